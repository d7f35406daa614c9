"""CSV files become Arrow files in the work folder, with types that hold for all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from microagg.core.errors import DataError
from microagg.files.dialect import Dialect
from microagg.plans.plan import Plan
from microagg.scale.sources.delimited import (
    CSV,
    CSV_BYTES,
    TEXTS,
    TYPED,
    CsvSetting,
    Kind,
    first_dialect,
    higher,
    read_texts,
    type_file,
)
from microagg.scale.sources.listing import Found, Listing, list_files
from microagg.scale.tasks.passes import Passes

_NUMBERS, _WORDS = (Kind.WHOLE, Kind.LARGE, Kind.FLOAT), (Kind.DATES, Kind.TEXT)


class Converted(NamedTuple):
    """The files as they are read, how they are written, and entries that mean missing values."""

    listing: Listing
    dialect: Dialect
    markers: Mapping[str, int]


def convert(passes: Passes, found: Found, plan: Plan, given: Dialect) -> Converted:
    """Convert all files; columns that are published unchanged or name somebody stay text."""
    work, n_files = passes.work, len(found.files)
    if not work.is_kept(CSV):
        work.keep(CSV, _setting(found, plan, given))
    setting: CsvSetting = work.facts(CSV)
    passes.run(TEXTS, read_texts, n_files, bytes_each=CSV_BYTES)
    each = [facts.kinds for facts in passes.results(TEXTS, n_files)]
    kinds = dict.fromkeys(setting.columns, Kind.EMPTY)
    for own in each:
        kinds = {name: higher(kind, own[name]) for name, kind in kinds.items()}
    _check_alike(found, plan, each)
    work.keep(TYPED, kinds)
    passes.run(TYPED, type_file, n_files, bytes_each=CSV_BYTES)
    markers: dict[str, int] = {}
    for counts in passes.results(TYPED, n_files):
        for name, count in counts.items():
            markers[name] = markers.get(name, 0) + count
    places = [work.place(TYPED, at, "arrow") for at in range(n_files)]
    listing = list_files(found, places)
    work.forget(TEXTS)
    return Converted(listing, replace(setting.dialect, na=()), markers)


def _check_alike(found: Found, plan: Plan, each: Sequence[Mapping[str, Kind]]) -> None:
    """Refuse a column without a role that has numbers in one file and text in another."""
    for name in each[0]:
        if name in plan.columns and plan.columns[name].role is not None:
            continue
        own = [kinds[name] for kinds in each]
        numbers = next((at for at, kind in enumerate(own) if kind in _NUMBERS), None)
        words = next((at for at, kind in enumerate(own) if kind in _WORDS), None)
        if numbers is not None and words is not None:
            raise DataError(
                f"column {name!r} has numbers in {found.files[numbers].name!r} and text in "
                f"{found.files[words].name!r}, and no role. Correct it there, name entries that "
                "mean a missing value (--na, or na= in Python), or give the column a role."
            )


def _setting(found: Found, plan: Plan, given: Dialect) -> CsvSetting:
    first = found.files[0]
    dialect, columns = first_dialect(first.local, replace(given, na=plan.na))
    roles = plan.roles_in((*columns, *(name for name, _ in first.hive)))
    as_text = frozenset((*roles.naming, *roles.sensitive, *roles.published, *roles.left_out))
    return CsvSetting(tuple(file.local for file in found.files), dialect, columns, as_text)
