"""A dictionary that cannot be changed, for the fields of frozen values."""

from collections.abc import Hashable
from typing import Any, NoReturn, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class ReadOnly(dict[K, V]):
    """A dictionary whose entries stay as they are.

    >>> ReadOnly(a=1)["a"]
    1
    >>> ReadOnly(a=1)["a"] = 2
    Traceback (most recent call last):
        ...
    TypeError: this mapping cannot be changed; make a new one, as with plan.replace(...)
    """

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping cannot be changed; make a new one, as with plan.replace(...)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)
