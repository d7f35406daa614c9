"""hierarchical-2018: SSE and time of HAC on census."""

from benchmarks.harness import best_of, publish
from benchmarks.papers.measured import change, records
from microagg.partitions import HAC, MDAV

KS = (3, 4, 5, 10)
# section -> a model, then its SSE and seconds at each k
SECTIONS = {
    "5 MDAV": (MDAV(), ("798.44", "1051.28", "1274.83", "1985.65"), (39, 32, 27, 19)),
    "6": (
        HAC(max_size="2k-1"),
        ("1284.95", "1919.07", "2154.53", "3469.41"),
        (192, 169, 175, 150),
    ),
    "7.1 single": (HAC(), ("1038.30", "1363.40", "1664.50", "2379.23"), (233, 210, 208, 146)),
    "7.2 complete": (
        HAC(linkage="complete"),
        ("1908.67", "2196.23", "3852.33", "4771.50"),
        (271, 240, 231, 309),
    ),
    "7.2 centroid": (
        HAC(linkage="centroid"),
        ("1703.30", "1679.70", "1979.91", "3112.41"),
        (20598, 19547, 19276, 20209),
    ),
    "7.3 priority": (
        HAC(priority=True),
        ("877.39", "1338.52", "1624.83", "2802.90"),
        (5470, 3529, 4710, 4232),
    ),
}


def main() -> None:
    X = records("census")
    rows = []
    for section, (model, errors, times) in SECTIONS.items():
        for k, printed, seconds in zip(KS, errors, times, strict=True):
            ours = model.set_params(k=k).fit(X).sse_
            (time,) = best_of(3, lambda model=model: model.fit(X))
            rows.append((section, k, printed, f"{ours:.2f}", change(ours, printed), seconds, time))
    publish(
        "papers_hac",
        "HAC and MDAV on census",
        ("section", "k", "SSE printed", "SSE ours", "change", "seconds printed", "seconds ours"),
        rows,
        note='J. Alarte Aleixandre, "Application of clustering techniques to privacy protection", '
        "master thesis, Universitat Oberta de Catalunya, 2018. Its times are from another machine; "
        "ours are the best of three.",
    )


if __name__ == "__main__":
    main()
