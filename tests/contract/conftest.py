"""Every registered method, once."""

import pytest

from microagg.registry import METHODS


@pytest.fixture(params=METHODS.values(), ids=METHODS)
def method(request):
    return request.param
