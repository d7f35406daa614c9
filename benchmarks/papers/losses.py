"""How much does each method lose on the tables used in the literature?"""

from benchmarks.harness import TABLES, publish
from benchmarks.papers.measured import loss
from microagg import methods

KS = (3, 5, 10)
DATA = ("diabetes", *TABLES)


def main() -> None:
    any_table = [m for m in methods().values() if not (m.single_column or m.needs)]
    variants = [(method.name, {}) for method in any_table]
    variants.append(("tsp-mhm", {"tour": True}))
    rows = []
    for name, options in variants:
        label = f"`{name}`" + "".join(f" {option}={value}" for option, value in options.items())
        rows.append((label, *(loss(name, table, k, **options) for table in DATA for k in KS)))
    publish(
        "losses",
        "IL of every method with its default options",
        ("method", *(f"{table} k={k}" for table in DATA for k in KS)),
        rows,
        note="diabetes comes with scikit-learn: 442 records, 10 columns. Methods that use "
        "randomness have `random_state=0`.",
    )


if __name__ == "__main__":
    main()
