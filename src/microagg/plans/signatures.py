"""Options of `protect` that others take as well: their signatures and docstrings, from the plan."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from functools import wraps
from inspect import Parameter, signature
from textwrap import fill
from typing import Any, TypeVar, cast, get_args, get_type_hints

from microagg.core.keywords import check_keywords
from microagg.plans.columns import REQUIREMENT_OPTIONS, ROLE_OPTIONS
from microagg.plans.options import options_of
from microagg.plans.plan import Plan

T = TypeVar("T", bound=Callable[..., Any])

_OPTIONS = (*ROLE_OPTIONS.values(), *REQUIREMENT_OPTIONS, *options_of(Plan))
_DEFAULTS = {own.keyword: own.default for own in _OPTIONS} | {"columns": None}
_HELP = {own.keyword: own.help for own in _OPTIONS}
_HELP["columns"] = Plan.model_fields["columns"].description or ""
_PLACES = {name: at for at, name in enumerate(_HELP)}
_WIDTH = 100


def with_options(target: T) -> T:
    """Show the options that a function or class takes as `**options: Unpack[...]`, a TypedDict.

    Type checkers know them from there. This makes the signature that Python shows, with a keyword
    for each and its default in a plan, and replaces the entry `**options` of the docstring by their
    help, but for those that have an entry. The function gets all of them, given or not; others are
    refused.

    >>> from typing import TypedDict, Unpack
    >>> class Options(TypedDict, total=False):
    ...     scale: str
    ...     keep_margins: bool
    >>> @with_options
    ... def study(table: object, **options: Unpack[Options]) -> object:
    ...     return options
    >>> print(signature(study))
    (table: object, *, scale: str = 'standardise', keep_margins: bool = False) -> object
    >>> study([1, 2], keep_margins=True)
    {'scale': 'standardise', 'keep_margins': True}
    >>> study([1, 2], scales="log")
    Traceback (most recent call last):
    TypeError: study() got an unexpected keyword argument 'scales'. Did you mean 'scale'?
    """
    function = vars(target)["__init__"] if isinstance(target, type) else target
    *own, rest = signature(function).parameters.values()
    (options,) = get_args(rest.annotation)
    made = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=_default(name), annotation=hint)
        for name, hint in get_type_hints(options).items()
    ]
    call = _taking(function, own, made)
    docstring = _with_entries(target.__doc__, rest.name, {parameter.name for parameter in made})
    if isinstance(target, type):
        target.__init__, target.__doc__ = call, docstring  # type: ignore[misc]
        return target
    call.__doc__ = docstring
    return cast(T, call)


def _taking(
    function: Callable[..., Any], own: Sequence[Parameter], made: Sequence[Parameter]
) -> Callable[..., Any]:
    """Return the function with these parameters: its own, and options made for it, in order."""
    first = [p for p in own if p.kind is not Parameter.KEYWORD_ONLY]
    named = [*(p for p in own if p not in first), *made]
    named.sort(key=lambda p: _PLACES.get(p.name, len(_PLACES)))  # others than options come last
    shown = signature(function).replace(parameters=[*first, *named])
    defaults = {parameter.name: parameter.default for parameter in made}

    @wraps(function)
    def call(*args: Any, **given: Any) -> Any:
        check_keywords(function, given, shown.parameters)
        return function(*args, **{**defaults, **given})

    call.__signature__ = shown  # type: ignore[attr-defined]
    return call


def _default(name: str) -> Any:
    """Return the default of an option as it is written in a signature: plain, and not mutable."""
    default = _DEFAULTS[name]
    if isinstance(default, Mapping):
        return None
    return default.value if isinstance(default, Enum) else default


def _with_entries(docstring: str | None, rest: str, names: Collection[str]) -> str | None:
    """Return the docstring with entries for these options in place of that of `rest`."""
    if docstring is None:  # as in Python's optimised mode
        return None
    there = re.findall(r"^ *(\w+) : ", docstring, flags=re.MULTILINE)
    added = [name for name in _HELP if name in names and name not in there]
    place = re.compile(rf"^( *)\*\*{rest} : .*(?:\n\1 +.*)*", flags=re.MULTILINE)
    return place.sub(lambda found: "\n".join(_entry(name, found[1]) for name in added), docstring)


def _entry(name: str, indent: str) -> str:
    text = f"{name} : {_HELP[name]}"
    return fill(text, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}    ")
