"""Every error and warning: what it means, and what to do about it."""

from collections.abc import Iterator

from docs.builder.reference.docstrings import Docstring
from microagg import errors
from microagg.core import errors as defined

_EXAMPLE = """```pycon
>>> import warnings
>>> import microagg
>>> try:
...     microagg.partitions.MDAV(k=9).fit([[1.0], [2.0]])
... except microagg.errors.ParameterError as error:
...     print(error)
k must be a whole number from 1 to 2, the number of records; got 9. Lower k or supply more records.
>>> from microagg.errors import DataError, MicroaggError, PrivacyWarning
>>> issubclass(DataError, MicroaggError)
True
>>> warnings.simplefilter("error", PrivacyWarning)  # stop where protection is weak

```"""


def pages() -> dict[str, str]:
    """Return the page of errors and warnings."""
    return {"errors.md": "\n\n".join(_page()) + "\n"}


def classes() -> dict[str, type[Exception]]:
    """Return all errors and warnings of the package by name."""
    names = [name for name in vars(defined) if name in errors.__all__]  # the most general first
    return {name: getattr(errors, name) for name in names}


def _page() -> Iterator[str]:
    yield "# Errors and warnings"
    yield (
        "All are in `microagg.errors`: `from microagg.errors import DataError`. A message says "
        "what was expected, what was given and what to do, and never contains a record's values. "
        "On the command line, an error is one line and the exit code below, and warnings are lines "
        "before the result."
    )
    yield _EXAMPLE
    found = classes()
    for title, is_warning in (("Errors", False), ("Warnings", True)):
        yield f"## {title}"
        for name, own in found.items():
            if issubclass(own, Warning) is is_warning:
                yield from _entry(name, own)


def _entry(name: str, own: type[Exception]) -> Iterator[str]:
    yield f"### {name} {{#{name.lower()}}}"
    yield Docstring.of(own.__doc__).head
    bases = [base.__name__ for base in own.__bases__]
    facts = f"Derives from `{'` and `'.join(bases)}`"
    if issubclass(own, errors.MicroaggError):
        facts += f"; exit code {own.exit_code}"
    yield f"{facts}."
