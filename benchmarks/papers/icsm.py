"""icsm-local-search-2015: tables 2 and 4."""

import numpy as np

from benchmarks.datasets import simulated_sets
from benchmarks.harness import publish, standardise
from benchmarks.papers.measured import change, loss, loss_of

SOURCE = """R. Mortazavi and S. Jalili, "A novel local search method for microaggregation", The ISC
International Journal of Information Security 7(1), 2015"""
TABLE_2 = {
    ("tarragona", 3): "14.81",
    ("tarragona", 5): "20.69",
    ("tarragona", 10): "30.70",
    ("census", 3): "4.85",
    ("census", 5): "7.78",
    ("census", 10): "11.93",
    ("eia", 3): "0.36",
    ("eia", 5): "0.78",
    ("eia", 10): "2.24",
}
# ICSM best of 1600, LS best of 4000
TABLE_4 = {
    ("tarragona", 3): ("14.54", "14.68"),
    ("tarragona", 4): ("17.18", "17.23"),
    ("tarragona", 5): ("20.25", "20.30"),
    ("tarragona", 10): ("30.34", "30.23"),
    ("census", 3): ("4.75", "4.85"),
    ("census", 4): ("6.21", "6.66"),
    ("census", 5): ("7.50", "7.86"),
    ("census", 10): ("11.74", "11.94"),
    ("eia", 3): ("0.35", "0.45"),
    ("eia", 4): ("0.49", "0.58"),
    ("eia", 5): ("0.74", "1.20"),
    ("eia", 10): ("1.95", "2.45"),
}
RESTARTS = 10
# MDAV and ICSM at k = 3, 5 and 10
SIMULATED = {
    "Sim-1": (("32.68", "27.95"), ("48.65", "42.87"), ("67.52", "63.92")),
    "Sim-2": (("14.32", "12.44"), ("23.56", "20.13"), ("37.18", "31.91")),
    "Sim-3": (("15.51", "12.65"), ("23.96", "20.31"), ("37.73", "32.61")),
}
SETS = 25
SIMULATED_NOTE = f"""The same paper, table 2: mean IL over {SETS} sets of 100 records. Sim-1: 10
uniform columns. Sim-2: 5 normal clusters of 20 records, standard deviations from 0.1 to 0.3,
centres in the unit cube of 4 to 8 dimensions. Sim-3: the same, centres in a cube of side 2. Our
sets are different draws, and those of Sim-2 vary by a tenth from seed to seed, so compare how much
ICSM gains over MDAV, not the columns of one method. **Sim-3 is not the paper's**: MDAV, which
agrees with print in every digit on the tables above, gives half of the printed figures or less with
every seed tried. Drawn like Sim-2, or with 0.1 to 0.3 as variances, the sets come close to them;
the paper does not say which was meant. So these rows do not show that ours loses less."""


def one_start() -> None:
    rows = []
    for (table, k), printed in TABLE_2.items():
        ours = loss("icsm", table, k)
        rows.append((table, k, printed, ours, change(ours, printed)))
    publish(
        "papers_icsm",
        "ICSM from MDAV",
        ("data", "k", "printed", "ours", "change"),
        rows,
        note=f"{SOURCE}, table 2.",
    )


def restarted() -> None:
    rows = []
    for (table, k), (icsm, ls) in TABLE_4.items():
        ours = loss("icsm", table, k, n_restarts=RESTARTS)
        rows.append((table, k, icsm, ls, ours, change(ours, min(icsm, ls, key=float))))
    publish(
        "papers_icsm_restarts",
        "ICSM with restarts",
        (
            *("data", "k", "ICSM printed, best of 1600", "LS printed, best of 4000"),
            *(f"ICSM ours, best of {1 + RESTARTS}", "change against the better"),
        ),
        rows,
        note=f'The same paper, table 4; LS is M. Laszlo and S. Mukherjee, "Iterated local search '
        'for microaggregation", Journal of Systems and Software 100, 2015. Ours is the best of '
        f"the start from MDAV and {RESTARTS} restarts, `random_state=0`.",
    )


def simulated() -> None:
    rows = []
    for name, cells in SIMULATED.items():
        sets = [standardise(X) for X in simulated_sets(name, np.random.default_rng(0), n_sets=SETS)]
        for k, printed in zip((3, 5, 10), cells, strict=True):
            ours = [float(np.mean([loss_of(m, X, k) for X in sets])) for m in ("mdav", "icsm")]
            gains = [change(float(icsm), mdav) for mdav, icsm in (printed, ours)]
            rows.append((name, k, printed[0], ours[0], printed[1], ours[1], *gains))
    publish(
        "papers_icsm_simulated",
        "MDAV and ICSM on simulated sets",
        (
            *("sets", "k", "MDAV printed", "MDAV ours", "ICSM printed", "ICSM ours"),
            *("ICSM against MDAV, printed", "ICSM against MDAV, ours"),
        ),
        rows,
        note=SIMULATED_NOTE,
    )


def main() -> None:
    one_start()
    restarted()
    simulated()


if __name__ == "__main__":
    main()
