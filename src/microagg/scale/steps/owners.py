"""Whose values they are: columns that name the units that records are about.

Pairs of a value and a unit meet by their value, where those of one unit only are found; the units
of these then meet, to be counted.
"""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Hashes
from microagg.release.cautions import warn_of_coarser_identifier, warn_of_values_of_units
from microagg.release.exposure import NEARLY_ALL
from microagg.scale.steps.names import (
    hashed_values,
    in_bucket,
    place_of,
    published_values,
    save_numbers,
)
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.opened import part_bytes
from microagg.scale.tasks.passes import Passes
from microagg.scale.tasks.setting import DatasetSetting
from microagg.tables.frames import open_frame

PAIRS, OWN, OWNERS = "pairs", "own", "owners"
# Bytes that a pair takes while those of a bucket are sorted.
_SORTED = 64


class OwnersWanted(NamedTuple):
    """The columns whose values may be of one unit each."""

    unit: str
    identifiers: tuple[str, ...]
    published: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.identifiers, *self.published)


def pair_values(work: WorkFolder, run: int) -> None:
    """Task: write the values of these columns and their units, for every part of a run."""
    setting, wanted = DatasetSetting.of(work), work.facts(PAIRS)
    columns = dict.fromkeys((wanted.unit, *wanted.columns))
    for number, table in setting.listing.read(run, [*columns]):
        frame = open_frame(table)
        units = hashed_values(frame, wanted.unit, naming=True)
        for at, name in enumerate(wanted.columns):
            values = hashed_values(frame, name, naming=name in wanted.identifiers)
            known = values.present & units.present
            pairs = _different(values.numbers[known], units.numbers[known])
            save_numbers(work, PAIRS, place_of(number, at, setting), pairs)


def _different(values: Hashes, units: Hashes) -> Hashes:
    """Return the different pairs, in two rows sorted by their values and then by their units."""
    order = np.lexsort((units, values))
    pairs = np.stack((values[order], units[order]))
    is_new = np.ones(len(order), dtype=np.bool_)
    is_new[1:] = (pairs[:, 1:] != pairs[:, :-1]).any(axis=0)
    return pairs[:, is_new]


def find_own(work: WorkFolder, number: int) -> bool:
    """Task: write the units that have a value of their own; return whether others share one."""
    setting = DatasetSetting.of(work)
    column, bucket = divmod(number, setting.name_buckets)
    found = []
    for part in range(len(setting.listing.parts)):
        path = work.place(PAIRS, place_of(part, column, setting), "npy")
        pairs = np.load(path, mmap_mode="r")
        found.append(np.array(pairs[:, in_bucket(pairs[0], bucket, setting.name_buckets)]))
    values, units = _different(*np.concatenate(found, axis=1))
    _, firsts, counts = np.unique(values, return_index=True, return_counts=True)
    save_numbers(work, OWN, number, np.unique(units[firsts[counts == 1]]))
    return bool((counts > 1).any())


def count_owners(work: WorkFolder, number: int) -> int:
    """Task: count the units of a bucket that have a value of their own in a column."""
    n = DatasetSetting.of(work).name_buckets
    column, bucket = divmod(number, n)
    own = []
    for at in range(column * n, (column + 1) * n):
        units = np.load(work.place(OWN, at, "npy"), mmap_mode="r")
        own.append(np.array(units[in_bucket(units, bucket, n)]))
    return len(np.unique(np.concatenate(own)))


def check_owners(passes: Passes, setting: DatasetSetting, n_units: int) -> None:
    """Warn of published columns that name units, and of identifiers of several units."""
    unit = setting.roles.unit
    if unit is None:
        return
    identifiers = tuple(name for name in setting.roles.identifiers if name != unit)
    wanted = OwnersWanted(unit, identifiers, published_values(setting) if n_units > 1 else ())
    if not wanted.columns:
        return
    passes.work.keep(PAIRS, wanted)
    listing, n = setting.listing, setting.name_buckets
    each = part_bytes(listing, len(wanted.columns) + 1)
    passes.run(PAIRS, pair_values, len(listing.runs), bytes_each=each)
    each = -(-listing.n_rows // n) * _SORTED
    passes.run(OWN, find_own, len(wanted.columns) * n, bytes_each=each)
    passes.work.forget(PAIRS)
    passes.run(OWNERS, count_owners, len(wanted.columns) * n, bytes_each=each)
    passes.work.forget(OWN)
    shared = [*passes.results(OWN, len(wanted.columns) * n)]
    owners = [*passes.results(OWNERS, len(wanted.columns) * n)]
    for at, name in enumerate(wanted.columns):
        buckets = slice(at * n, (at + 1) * n)
        if name in wanted.identifiers:
            if any(shared[buckets]):
                warn_of_coarser_identifier(name, unit)
        elif sum(owners[buckets]) >= NEARLY_ALL * n_units:
            warn_of_values_of_units(name, unit)
