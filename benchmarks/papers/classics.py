"""Figures of older methods as the literature quotes them."""

from benchmarks.harness import publish
from benchmarks.papers.measured import change, loss

KS = (3, 5, 10)
QUOTED = {
    ("TFRP-2", "tfrp"): {
        "tarragona": ("16.88", "21.85", "33.09"),
        "census": ("5.80", "8.98", "13.96"),
        "eia": ("0.43", "0.91", "2.59"),
    },
    ("M-d", "mst"): {
        "tarragona": ("16.63", "24.50", "38.58"),
        "census": ("6.11", "10.30", "17.17"),
    },
    ("CBFS-MHM", "cbfs-mhm"): {
        "tarragona": ("16.97", "22.82", "33.22"),
        "census": ("5.67", "8.89", "13.89"),
    },
    ("MD-MHM", "md-mhm"): {
        "tarragona": ("16.98", "22.53", "33.18"),
        "census": ("5.70", "8.99", "14.40"),
    },
}
NOTE = """The quoted figures are **as quoted in the literature, not checked** against these papers:
TFRP-2: C.-C. Chang, Y.-C. Li and W.-H. Huang, "TFRP: an efficient
microaggregation algorithm for statistical disclosure control", Journal of Systems and Software
80(11), 2007. M-d: M. Laszlo and S. Mukherjee, "Minimum spanning tree partitioning algorithm for
microaggregation", IEEE TKDE 17(7), 2005. CBFS-MHM and MD-MHM: J. Domingo-Ferrer, A.
Martinez-Balleste, J. M. Mateo-Sanz and F. Sebe, "Efficient multivariate data-oriented
microaggregation", The VLDB Journal 15(4), 2006."""


def main() -> None:
    rows = []
    for (name, method), tables in QUOTED.items():
        for table, figures in tables.items():
            row = [name, f"`{method}`", table]
            for k, quoted in zip(KS, figures, strict=True):
                ours = loss(method, table, k)
                row += [quoted, ours, change(ours, quoted)]
            rows.append(row)
    header = ["method", "ours", "data"]
    for k in KS:
        header += [f"k={k} quoted", f"k={k} ours", f"k={k} change"]
    publish("papers_classics", "The classics", header, rows, note=NOTE)


if __name__ == "__main__":
    main()
