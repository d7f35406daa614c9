"""Whether there is enough space on disk, before any long work."""

import shutil
from pathlib import Path

from microagg.core.errors import ParameterError
from microagg.scale.listing import Found, Listing
from microagg.scale.urls import Place, Url

# Bytes of a value of text in the work folder, about, beside those of the file.
_TEXT = 12


def work_size(found: Found, listing: Listing | None) -> int:
    """Return about how many bytes the work folder takes at most.

    Two copies of the columns to protect as they are in memory, one of them on its way to the next
    round, and one of what is released, or of what the judges look at. Of CSV files, which are not
    opened yet, only the size is known: they are kept twice in addition.
    """
    if listing is None:
        return 5 * found.size
    width = 8  # the number of a row
    for field in listing.files[0].schema:
        try:
            width += -(-field.type.bit_width // 8)
        except ValueError:
            width += _TEXT
    return 3 * max(width * listing.n_rows, found.size)


def check_space(found: Found, listing: Listing | None, work: Path, target: Place) -> None:
    """Refuse to begin where the work folder or the output would not fit.

    What comes from a URL or goes there is kept in the work folder as well.
    """
    needs = {work: work_size(found, listing)}
    if isinstance(found.root, Url):
        needs[work] += found.size
    output = target.parent if isinstance(target, Path) else work
    needs[output] = needs.get(output, 0) + found.size
    for place, size in needs.items():
        free = shutil.disk_usage(place).free
        if free < size:
            raise ParameterError(
                f"the run needs about {size / 1e9:.1f} GB in {str(place)!r}, and only "
                f"{free / 1e9:.1f} GB are free. Free some, or name another place for the work "
                "folder (--work-dir, or work_dir= in Python)."
            )
