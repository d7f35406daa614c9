"""What several commands say of a table and of a release: in the same words."""

from collections.abc import Sequence
from typing import Any

from microagg.cli.layout import counted, names

Rows = list[tuple[str, str]]

# Standard deviations that nobody sees.
NEGLIGIBLE = 1e-6
# The words of microagg.outcome, which takes long to load.
K_ANONYMITY, PROBABILISTIC = "k-anonymity", "probabilistic k-anonymity"


def title(done: dict[str, Any], subjects: str) -> str:
    """Head a summary; `subjects` are the records, counted."""
    if done["k"] == 1:
        return f"Nobody is protected: {subjects} written at k = 1 with {done['method']}"
    if done["draw"] is not None and done["promise"] != K_ANONYMITY:
        return f"Drew centres for {subjects} with {done['method']}, k = {done['k']:,} on average"
    return f"Protected {subjects} at k = {done['k']:,} with {done['method']}"


def outcome(release: Any) -> Rows:
    """Say what was lost, how large the groups are, what was checked, and in which columns."""
    from microagg.release import spread

    done = release.manifest
    low, high = done["min_group"], done["max_group"]
    records = "record" if high == 1 else "records"
    rows = [
        ("information loss", f"{release.information_loss:.4g} %"),
        ("groups", f"{done['n_groups']:,}, of {spread(low, high)} {records} each"),
    ]
    columns = names(done["quasi_identifiers"])
    if done["k"] == 1:
        alone = "nothing: at k = 1 every record may stand alone"
        return [*rows, ("verified", alone), ("grouped by", columns)]
    least = counted(done["smallest_class"], "record")
    if done["draw"] is None or done["promise"] == K_ANONYMITY:
        verified = f"every released combination stands for at least {least}"
        return [*rows, ("verified", verified), ("protected", columns)]
    return [*rows, *_drawn(done), ("drawn for", columns)]


def _drawn(done: dict[str, Any]) -> Rows:
    """Say what a draw promises of the sizes of its classes, and what it gave."""
    draw, k = done["draw"], done["k"]
    promise = f"nothing: {draw['n_expected_below_k']:,} of {draw['n_centers']:,} centres expect "
    promise += f"fewer than {k:,} records"
    if done["promise"] == PROBABILISTIC:
        promise = f"{PROBABILISTIC}: every centre expects {k:,} records or more"
    realised = (
        f"{draw['n_realised_below_k']:,} of {done['n_groups']:,} groups hold fewer than {k:,} "
        f"records, the smallest {done['min_group']:,}; --strict-k draws again until none does"
    )
    return [("promise", promise), ("realised", realised)]


def constraint_rows(found: dict[str, Any] | None) -> Rows:
    """Say who violated the constraints before, and what it took to satisfy them."""
    if found is None:
        return []
    rows = [("satisfied", "every constraint, in every released record")]
    violations = found["records_in_violation"].items()
    if any(count for _, count in violations):
        listed = "; ".join(f"{text} ({count:,})" for text, count in violations if count)
        rows.append(("violated before", f"{listed}"))
    added = f"{counted(found['groups_moved'], 'group')} moved, which adds "
    added += f"{found['added_information_loss']:.3g} % to the loss"
    if found["farther_than_nearest_by_at_most"] > NEGLIGIBLE:
        added += (
            f"; of {counted(found['groups_not_proved_nearest'], 'group')} it is proved only that "
            f"no nearer values are more than {found['farther_than_nearest_by_at_most']:.2g} "
            "standard deviations nearer"
        )
    return [*rows, ("for that", added)]


def assumed(columns: Sequence[str], quasi_identifiers: Sequence[str]) -> Rows:
    """Say which columns are protected because nobody gave them a role, if there are any."""
    if not columns:
        return []
    listed = "all of these" if len(columns) == len(quasi_identifiers) else names(columns)
    return [("assumed", f"{listed} (numbers that no option gives a role)")]
