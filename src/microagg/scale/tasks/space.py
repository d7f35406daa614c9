"""Whether there is enough space on disk, said and checked before any long work."""

import os
import shutil
from pathlib import Path

from microagg.core.errors import ParameterError
from microagg.scale.sources.delimited import looked_at
from microagg.scale.sources.listing import Found
from microagg.scale.storage.urls import Place, Url
from microagg.scale.tasks.setting import DatasetSetting

# Bytes of a row in the work folder beside its values: its number, and that of its group.
_NUMBERS = 16
# Bytes of a value of a column that may name somebody: its hash, or that with a unit's, and again.
_HASH, _PAIR = 8, 24
# Bytes of an entry of a CSV file that is kept as text, beside its own: where it ends.
_END = 8
# Copies of the columns to protect: two on their way from one round to the next, or what judges and
# reports look at. Beside the latter, CSV files are kept as they were and as they are written.
_COPIES, _COPIES_OF_CSV = 3, 4
# What a CSV file at a URL may take in memory in place of every byte.
_UNSEEN = 2


def work_size(found: Found, setting: DatasetSetting | None) -> int:
    """Return about how many bytes the work folder takes at most.

    Where there is no setting, the files were not opened yet.
    """
    if setting is not None and found.kind != "CSV":
        roles = setting.roles
        names = dict.fromkeys((*setting.needed, *roles.sensitive))
        width = setting.listing.width_of([*names]) + _NUMBERS
        counted = {*roles.identifiers, *roles.unchanged, *roles.assumed, roles.unit}
        hashes = len(counted) * (_HASH if roles.unit is None else _PAIR)
        return int(max(_COPIES * width, hashes) * setting.listing.n_rows)
    first = found.files[0].path
    if isinstance(first, Url):
        return _COPIES_OF_CSV * _UNSEEN * found.size
    seen = looked_at(first)
    width = seen.record_bytes + _END * seen.n_fields + _NUMBERS
    return int(_COPIES_OF_CSV * width * found.size * seen.expansion / seen.record_bytes)


def check_space(found: Found, setting: DatasetSetting | None, work: Path, target: Place) -> str:
    """Refuse to begin where the work folder or the output would not fit; say what they take.

    What comes from a URL or goes there is kept in the work folder as well.
    """
    own = work_size(found, setting) + (found.size if isinstance(found.root, Url) else 0)
    output = target.parent if isinstance(target, Path) else work
    # Two folders of one file system share what is free.
    is_one = os.stat(work).st_dev == os.stat(output).st_dev
    needs = {work: own + found.size} if is_one else {work: own, output: found.size}
    for folder, needed in needs.items():
        free = shutil.disk_usage(folder).free
        if free < needed:
            raise ParameterError(
                f"the run needs about {_gigabytes(needed)} in {str(folder)!r}, and only "
                f"{free / 1e9:.1f} GB are free. Free some, or name another place for the work "
                "folder (--work-dir, or work_dir= in Python)."
            )
    free = shutil.disk_usage(work).free
    return (
        f"the work folder takes up to {_gigabytes(own)} in {str(work)!r}, where "
        f"{free / 1e9:,.1f} GB are free"
    )


def _gigabytes(size: float) -> str:
    return f"{max(0.1, size / 1e9):,.1f} GB"
