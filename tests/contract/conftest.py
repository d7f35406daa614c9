"""Every registered method, once."""

import pytest

from microagg.core.registry import METHODS


@pytest.fixture(params=METHODS.values(), ids=METHODS)
def method(request):
    return request.param


# A method of many starts keeps its promise with few of them, too.
LESS_WORK = {
    "auto": {"effort": "fast"},
    "reporder": {"n_starts": 6},
    "fcm": {"n_starts": 1},
    "efcm": {"n_starts": 1},
}


def estimator(method, *k, **options):
    """The method, with a fixed seed if it has chance in it, as strict as it can be, and quick."""
    if "random_state" in method.options:
        options.setdefault("random_state", 0)
    if method.draws:
        options.setdefault("strict_k", True)
    return method.cls(*k, **{**LESS_WORK.get(method.name, {}), **options})
