"""Keyword arguments that a function does not have, refused with the one that was meant."""

from collections.abc import Callable, Collection, Iterable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

from microagg.core.words import did_you_mean

# Names of options in plan files, and those that they have in Python.
ALIASES = {"seed": "random_state", "options": "method_options"}
P = ParamSpec("P")
R = TypeVar("R")


def check_keywords(
    function: Callable[..., Any], given: Iterable[str], known: Collection[str], *, remedy: str = ""
) -> None:
    """Refuse a keyword that is not known, as Python does, and say which one may be meant.

    If it resembles none, `remedy` says what to do.
    """
    for name in given:
        if name not in known:
            raise TypeError(
                f"{function.__qualname__}() got an unexpected keyword argument {name!r}."
                f"{_meant(name, known) or remedy}"
            )


def _meant(name: str, known: Collection[str]) -> str:
    other = ALIASES.get(name)
    return f" Did you mean {other!r}?" if other in known else did_you_mean(name, known)


def with_hints(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function say which keyword was meant by one that it does not have.

    If it needs a plan, that is where other options belong.

    >>> @with_hints
    ... def group(X, *, method="auto"):
    ...     pass
    >>> group([], methd="mdav")
    Traceback (most recent call last):
    TypeError: group() got an unexpected keyword argument 'methd'. Did you mean 'method'?
    """
    known = signature(function).parameters
    needs_plan = "plan" in known and known["plan"].default is Parameter.empty
    remedy = " Options belong in the plan, as in Plan(k=5)." if needs_plan else ""

    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> R:
        check_keywords(function, named, known, remedy=remedy)
        return function(*args, **named)

    return call
