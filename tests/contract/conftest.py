"""Every registered method, once."""

import pytest

from microagg.registry import METHODS


@pytest.fixture(params=METHODS.values(), ids=METHODS)
def method(request):
    return request.param


def estimator(method, *k, **options):
    """The method, with a fixed seed if it has chance in it."""
    if "random_state" in method.options:
        options.setdefault("random_state", 0)
    return method.cls(*k, **options)
