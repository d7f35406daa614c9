"""integer-univariate-2020, table 3: squared errors of IMHM and IMHMI along four orderings."""

import numpy as np

from benchmarks.harness import TABLES, publish
from benchmarks.papers.measured import change, records
from microagg import cut_path, orderings
from microagg.kernels.basics.group_sums import summarise
from microagg.orderings.tsp import short_tours
from tests.papers.test_integer_univariate import TABLE_3

KS = (2, 3, 4, 5, 10)
TSP = {
    "tarragona": (10147342, 17767942, 23777988, 26913057, 40565215),
    "census": (4297367, 7417415, 10054660, 12179645, 22312807),
    "eia": (1112718, 2142621, 3366535, 4806187, 12221582),
}
TOURS = 3


def whole_numbers(X: np.ndarray) -> np.ndarray:
    """Hundreds of the values, rounded half away from zero."""
    return (np.sign(X) * np.floor(np.abs(X) * 100 + 0.5)).astype(np.int64)


def agreeing() -> tuple[int, int]:
    """How many figures of NPN, PCA and Z-score agree in every digit, and how many there are."""
    pairs = []
    for table in TABLES:
        X = records(table)
        whole = whole_numbers(X)
        orders = [orderings.get(name)(X) for name in ("npn", "pca", "zscore")]
        for k in KS:
            cuts = [
                cut_path(values, order, k, integer=integer)
                for order in orders
                for values, integer in ((whole.astype(np.float64), False), (whole, True))
            ]
            ours = [int(summarise(whole, cut).sse) for cut in cuts]
            pairs += zip(TABLE_3[k][table], ours, strict=True)
    return sum(printed == ours for printed, ours in pairs), len(pairs)


def main() -> None:
    rows = []
    for table in TABLES:
        X = records(table)
        whole = whole_numbers(X)
        orders = [
            order
            for tour in short_tours(X, TOURS)
            for order in (tour, np.concatenate((tour[:1], tour[:0:-1])))
        ]
        for k, printed in zip(KS, TSP[table], strict=True):
            row = [table, k, printed]
            for closed in (False, True):
                cuts = [cut_path(whole, order, k, integer=True, tour=closed) for order in orders]
                ours = int(min(summarise(whole, cut).sse for cut in cuts))
                row += [ours, change(ours, printed)]
            rows.append(row)
    agree, total = agreeing()
    publish(
        "papers_integer",
        "Whole numbers along a tour",
        ("data", "k", "SSE printed", "open", "open change", "closed", "closed change"),
        rows,
        note='R. Mortazavi, "Improved univariate microaggregation for integer values", ISeCure '
        f"12(1), 2020, table 3. Its columns for NPN, PCA and Z-score: {agree} of {total} figures "
        "agree in every digit. Its TSP column (IMHMI) depends on the tour; ours is the best of "
        f"{TOURS} tours, cut open and closed.",
    )


if __name__ == "__main__":
    main()
