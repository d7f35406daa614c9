"""Columns that may say whom records are about, although their names do not show it.

Where people have several records, what is true of a person is the same in all of them: date of
birth, sex, place. A column each of whose values always has the same entries there may number them.
"""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from microagg.core.errors import DataError
from microagg.tables.columns import ColumnType
from microagg.tables.frames import Frame, polars_column
from microagg.tables.judging import FEW_CODES

# A column must determine this many others, and this many records must repeat one of its values:
# otherwise it may be by chance.
_LEAST_DETERMINED, _LEAST_REPEATED = 2, 20
# A column that is nearly constant agrees everywhere.
_MOST_ALIKE = 0.9
# A few records rule most columns out.
_N_FIRST = 2_000
_NAMES = (ColumnType.NOMINAL, ColumnType.INTEGER)
_DETAILS = (ColumnType.INTEGER, ColumnType.CONTINUOUS, ColumnType.DATE, ColumnType.DATETIME)


def find_owners(
    frame: Frame, types: Mapping[str, ColumnType], known: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Return columns that may number people, and the columns that are the same for each of them.

    One of these must be a date or an amount, as a town always has the same county as well. `types`
    are those of the columns to look at. What such a column, or one of the `known` identifiers,
    determines is not such a column itself: an income may differ from person to person as well.

    >>> import microagg
    >>> people = pl.DataFrame({"no": [*range(30)] * 2, "born": [*range(1950, 1980)] * 2})
    >>> people = people.with_columns(sex=pl.col("no") % 2, visit=pl.int_range(60))
    >>> roles = dict.fromkeys(("no", "born", "visit"), ColumnType.INTEGER)
    >>> find_owners(microagg.tables.frames.open_frame(people), roles | {"sex": ColumnType.NOMINAL})
    {'no': ['born', 'sex']}
    """
    columns = dict(_comparable(frame, (*types, *known)))
    n_different = {name: column.drop_nulls().n_unique() for name, column in columns.items()}
    others = [name for name in columns if name in types and n_different[name] > 1]
    candidates = [
        name
        for name, column in columns.items()
        if n_different[name] > FEW_CODES and _repeats(column, n_different[name])
    ]
    found: dict[str, list[str]] = {}
    belonging: set[str] = set()
    # Those that are known first, and text before numbers.
    for name in sorted(candidates, key=lambda n: (n in types, columns[n].dtype != pl.String)):
        if name in belonging or types.get(name, ColumnType.NOMINAL) not in _NAMES:
            continue
        same = _determined_by(columns, name, [other for other in others if other != name])
        has_detail = any(types[o] in _DETAILS and n_different[o] > FEW_CODES for o in same)
        if name in types and has_detail and len(same) >= _LEAST_DETERMINED:
            found[name] = same
        if name in known or name in found:
            belonging.update(same)
    return found


def _repeats(column: pl.Series, n_different: int) -> bool:
    repeated = len(column) - column.null_count() - n_different
    return repeated >= max(_LEAST_REPEATED, n_different / 2)


def _comparable(frame: Frame, names: Sequence[str]) -> Iterator[tuple[str, pl.Series]]:
    for name in names:
        try:
            yield name, polars_column(frame[name])
        except DataError:  # of a type that polars does not know
            continue


def _determined_by(columns: Mapping[str, pl.Series], name: str, others: Sequence[str]) -> list[str]:
    """Return the columns that have one entry for each value of `name`."""
    same = list(others)
    for n in (_N_FIRST, len(columns[name])):
        own = columns[name].head(n)
        same = [other for other in same if _is_determined(own, columns[other].head(n))]
    return [other for other in same if not _is_nearly_constant(columns[other])]


def _is_determined(own: pl.Series, other: pl.Series) -> bool:
    pairs = pl.DataFrame({"own": own, "other": other}).drop_nulls("own")
    return pairs.n_unique() == pairs.get_column("own").n_unique()


def _is_nearly_constant(column: pl.Series) -> bool:
    counts = column.drop_nulls().unique_counts()
    return int(counts.max() or 0) > _MOST_ALIKE * len(column)  # type: ignore[arg-type]
