"""The table of a request, and the ks it asks for."""

import re
from typing import Any

from microagg.cli.options import count_or_text
from microagg.errors import ParameterError

# More would be a slip of the keyboard.
_MOST_KS = 1000


def read_table(source: str, roles: dict[str, Any]) -> Any:
    """Return the table in a file; columns that nobody computes with stay text."""
    from microagg.tables.files import TableFile
    from microagg.tables.roles import check_named

    file = TableFile(source)
    named = check_named(file.columns, **roles)
    return file.table(as_text=(*named.identifiers, *named.sensitive))


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
