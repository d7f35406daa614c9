"""Every registered method, once."""

import pytest

from microagg.registry import METHODS


@pytest.fixture(params=METHODS.values(), ids=METHODS)
def method(request):
    return request.param


# A method of many starts keeps its promise with few of them, too.
FEWER_STARTS = {"reporder": 6, "fcm": 1, "efcm": 1}


def estimator(method, *k, **options):
    """The method, with a fixed seed if it has chance in it, as strict as it can be, and quick."""
    if "random_state" in method.options:
        options.setdefault("random_state", 0)
    if method.draws:
        options.setdefault("strict_k", True)
    if method.name in FEWER_STARTS:
        options.setdefault("n_starts", FEWER_STARTS[method.name])
    return method.cls(*k, **options)
