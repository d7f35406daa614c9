"""What several commands say of a table and of a release: in the same words."""

from collections.abc import Sequence
from typing import Any

from microagg.cli.layout import counted, names

Rows = list[tuple[str, str]]


def title(done: dict[str, Any], subjects: str) -> str:
    """Head a summary; `subjects` are the records, counted."""
    if done["k"] == 1:
        return f"Nobody is protected: {subjects} written at k = 1 with {done['method']}"
    return f"Protected {subjects} at k = {done['k']:,} with {done['method']}"


def outcome(release: Any) -> Rows:
    """Say what was lost, how large the groups are, what was checked, and in which columns."""
    from microagg.release import spread

    done = release.manifest
    low, high = done["min_group"], done["max_group"]
    verified = (
        "every released combination stands for at least "
        f"{counted(done['smallest_class'], 'record')}"
    )
    grouped_by = "protected"
    if done["k"] == 1:
        verified, grouped_by = "nothing: at k = 1 every record may stand alone", "grouped by"
    records = "record" if high == 1 else "records"
    return [
        ("information loss", f"{release.information_loss:.4g} %"),
        ("groups", f"{done['n_groups']:,}, of {spread(low, high)} {records} each"),
        ("verified", verified),
        (grouped_by, names(done["quasi_identifiers"])),
    ]


def assumed(columns: Sequence[str], quasi_identifiers: Sequence[str]) -> Rows:
    """Say which columns are protected because nobody gave them a role, if there are any."""
    if not columns:
        return []
    listed = "all of these" if len(columns) == len(quasi_identifiers) else names(columns)
    return [("assumed", f"{listed} (numbers that no option gives a role)")]
