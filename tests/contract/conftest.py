"""Every registered method, once."""

import pytest

from microagg.core.registry import METHODS
from tests.contract import needs


@pytest.fixture(params=METHODS.values(), ids=METHODS)
def method(request):
    return request.param


def methods_that(applies):
    """Run a test for the methods that it applies to, instead of for all."""
    chosen = {name: method for name, method in METHODS.items() if applies(method)}
    return pytest.mark.parametrize("method", chosen.values(), ids=chosen)


# A method of many starts keeps its promise with few of them, too.
LESS_WORK = {
    "auto": {"effort": "fast"},
    "reporder": {"n_starts": 6},
    "fcm": {"n_starts": 1},
    "efcm": {"n_starts": 1},
}


def estimator(method, *k, **options):
    """The method, with a fixed seed if it has chance in it, as strict as it can be, and quick.

    One that needs a requirement has it supplied.
    """
    if "random_state" in method.options:
        options.setdefault("random_state", 0)
    if method.draws:
        options.setdefault("strict_k", True)
    cls = needs.CLASSES.get(method.name, method.cls)
    return cls(*k, **{**LESS_WORK.get(method.name, {}), **options})
