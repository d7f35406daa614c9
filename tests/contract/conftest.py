"""Every registered method, once."""

import pytest

from microagg.registry import METHODS


@pytest.fixture(params=METHODS.values(), ids=METHODS)
def method(request):
    return request.param


# A method of many starts keeps its promise with few of them, too.
FEWER_STARTS = {"reporder": 6}


def estimator(method, *k, **options):
    """The method, with a fixed seed if it has chance in it, and quick."""
    if "random_state" in method.options:
        options.setdefault("random_state", 0)
    if method.name in FEWER_STARTS:
        options.setdefault("n_starts", FEWER_STARTS[method.name])
    return method.cls(*k, **options)
