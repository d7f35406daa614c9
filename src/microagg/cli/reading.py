"""The table of a request, and the ks it asks for."""

import re
from typing import Any

from microagg.cli.options import count_or_text
from microagg.core.errors import ParameterError

# More would be a slip of the keyboard.
_MOST_KS = 1000


def read_table(
    source: str, asked: dict[str, Any], dialect: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Return the table in a file, and what is said of its columns as `open_records` takes it.

    Identifiers are not read, as nothing is released.
    """
    from microagg.files.dialect import Dialect
    from microagg.files.formats import TableFile
    from microagg.plans.plan import as_records
    from microagg.tables.roles import check_named

    of_columns = as_records(**asked)
    file = TableFile(source, dialect=Dialect(**dialect))
    given = {
        name: of_columns[name] for name in of_columns if name not in ("column_options", "missing")
    }
    named = check_named(file.columns, **given, typed=of_columns["column_options"])
    kept = [name for name in file.columns if name not in named.identifiers]
    return file.table(as_text=named.sensitive, columns=kept), {**of_columns, "identifiers": ()}


def listed_ks(text: str) -> list[int | str]:
    """Return each k that the text lists, ranges written out; a check refuses what is no number.

    >>> listed_ks("2-5,10"), listed_ks("3 5")
    ([2, 3, 4, 5, 10], [3, 5])
    """
    ks: list[int | str] = []
    for part in re.sub(r"\s*-\s*", "-", text).replace(",", " ").split():
        ks += _range(part) if "-" in part[1:] else [count_or_text(part)]
        if len(ks) > _MOST_KS:
            raise ParameterError(f"-k may list at most {_MOST_KS:,} values; it lists more.")
    return ks


def _range(text: str) -> range:
    """Return the ks of a range such as 2-20."""
    ends = [count_or_text(end) for end in text.split("-", 1)]
    low, high = ends
    if not (isinstance(low, int) and isinstance(high, int) and high > 0):
        shown = count_or_text(text)
        raise ParameterError(f"a range of -k must be two whole numbers, as in 2-20; got {shown!r}.")
    if low > high:
        raise ParameterError(f"a range of -k must go from low to high; write {high}-{low}.")
    return range(low, min(high, low + _MOST_KS) + 1)
