"""How much does each method lose on the tables used in the literature?"""

from benchmarks.harness import TABLES, publish
from benchmarks.papers.measured import loss
from microagg import methods

KS = (3, 5, 10)
DATA = ("diabetes", *TABLES)


def main() -> None:
    known = methods().items()
    suited = [name for name, m in known if not (m.single_column or m.draws or m.needs)]
    variants = [(name, {}) for name in suited]
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
        "randomness have `random_state=0`. Not here: `univariate`, for one column only, and `fcm` "
        "and `efcm`, which draw and do not guarantee k.",
    )


if __name__ == "__main__":
    main()
