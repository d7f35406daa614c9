"""Tables of a page as values, for plots of them and for tests that compare pages."""

import re
from typing import NamedTuple

from docs.builder.errors import BuildError

_HEADING = re.compile(r"^#{2,4} (?P<words>.+)$")
_LINE = re.compile(r"^\|[\s:|-]+\|$")


class Table(NamedTuple):
    """The first table below a heading: the names of its columns, and its rows by them."""

    columns: tuple[str, ...]
    rows: list[dict[str, str]]

    def numbers(self, column: str, **where: str) -> list[float]:
        """Return a column of the rows whose entries elsewhere are those given.

        >>> table = Table(("of", "s"), [{"of": "a", "s": "1.5"}, {"of": "b", "s": "2"}])
        >>> table.numbers("s", of="a")
        [1.5]
        """
        if strange := {column, *where} - set(self.columns):
            raise BuildError(f"a table has no column {', '.join(sorted(strange))}: {self.columns}")
        chosen = [row for row in self.rows if all(row[key] == own for key, own in where.items())]
        if not chosen:
            raise BuildError(f"a table of {self.columns} has no row with {where}")
        return [number(row[column]) for row in chosen]


def number(cell: str) -> float:
    """Return what a cell says: 1,000 is a thousand, and 5 % is 5.

    >>> number("1,234.5"), number("-0.3 %")
    (1234.5, -0.3)
    """
    return float(cell.replace(",", "").removesuffix("%"))


def tables(text: str) -> dict[str, Table]:
    """Return the first table below every heading of a page, by the words of the heading."""
    found: dict[str, Table] = {}
    heading, header = "", None
    for line in text.splitlines():
        if words := _HEADING.match(line):
            heading, header = words["words"], None
        elif not line.startswith("|"):
            header = None
        elif header is None:
            header = _cells(line)
        elif not _LINE.match(line):
            table = found.setdefault(heading, Table(header, []))
            if table.columns == header:
                table.rows.append(dict(zip(header, _cells(line), strict=True)))
    return found


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))
