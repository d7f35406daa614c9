"""How far from optimal is `auto` at most, at every k, and what does the proof take?"""

from collections.abc import Iterator

import numpy as np

from benchmarks.auto_cells import BEST_KNOWN, compile_all
from benchmarks.harness import publish_as_it_grows, wall_and_cpu
from benchmarks.papers.measured import records
from microagg.bounds import bound_on, gap, lower_bound
from microagg.partitions import Auto

TABLES = ("tarragona", "census")
KS = (6, 8, 10, 12, 15, 20)
# Seconds for the tight bound.
SECONDS = 300.0


def gaps() -> Iterator[tuple[object, ...]]:
    """The bounds of every cell in per cent, like IL, and the gap of `auto` and the best known."""
    for table in TABLES:
        X = records(table)
        percent = 100.0 / float(np.square(X - X.mean(axis=0)).sum())
        for k in KS:
            groups = Auto(k, random_state=0).fit(X)
            found: list[float] = []
            wall, cpu = wall_and_cpu(
                lambda X=X, k=k, groups=groups, found=found: found.append(
                    bound_on(X, k, "tight", SECONDS, groups.labels_)
                )
            )
            (tight,) = found
            known = BEST_KNOWN.get((table, k))
            yield (
                *(table, k, f"{lower_bound(X, k) * percent:.4f}", f"{tight * percent:.4f}"),
                *(f"{wall:.0f}", f"{cpu:.0f}", f"{groups.sse_ * percent:.4f}"),
                f"{gap(groups.sse_, tight):.2f} %",
                "" if known is None else f"{gap(known, tight * percent):.2f} %",
            )


def main() -> None:
    compile_all()
    publish_as_it_grows(
        "quality_gaps",
        "The tight bound at larger k",
        (
            *("data", "k", "fast bound", "tight bound", "seconds", "CPU seconds"),
            *("IL of `auto`", "its gap", "gap of the best known"),
        ),
        gaps(),
        note=f"`lower_bound` in per cent of SST, the tight one within {SECONDS:.0f} seconds and "
        "from the groups of `auto`. No partition loses less.",
    )


if __name__ == "__main__":
    main()
