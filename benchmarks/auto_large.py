"""How much does `auto` gain over MDAV on a large table, and how much longer does it take?"""

from collections.abc import Iterator

from benchmarks.auto_cells import compile_all, fit
from benchmarks.datasets import REPORTING_SEED, normal_records
from benchmarks.harness import peak_memory, publish_as_it_grows, seconds
from benchmarks.mdav_speed import plain_scan
from microagg import information_loss
from microagg.partitions import MDAV

N, COLUMNS, K = 100_000, 10, 5


def rows() -> Iterator[tuple[object, ...]]:
    X = normal_records(N, COLUMNS, REPORTING_SEED)
    scan = seconds(lambda: plain_scan(X, K))
    yield ("plain scan", "", "", f"{scan:.1f}", "", "1", "")
    mdav = MDAV(K)
    taken = seconds(lambda: mdav.fit(X))
    least = information_loss(X, mdav.labels_)
    yield ("mdav", f"{least:.4f}", "", f"{taken:.1f}", "", f"{taken / scan:.2f}", _memory())
    for effort in ("fast", "balanced", "best"):
        ours = fit(X, K, effort)
        yield (
            f'auto, effort="{effort}"',
            f"{ours.loss:.4f}",
            f"{100 * (1 - ours.loss / least):.1f} %",
            f"{ours.seconds:.1f}",
            f"{ours.cpu:.1f}",
            f"{ours.seconds / scan:.1f}",
            _memory(),
        )


def _memory() -> str:
    return f"{peak_memory():.2f}"


def main() -> None:
    compile_all()
    plain_scan(normal_records(100, COLUMNS, 0), K)
    publish_as_it_grows(
        "quality_large",
        f"`auto` on {N:,} x {COLUMNS} normal records, k = {K}",
        (
            *("method", "IL", "below MDAV", "seconds", "CPU seconds", "scans"),
            "peak memory so far (GB)",
        ),
        rows(),
        note="Aim: `balanced` is at least 10 % below MDAV in at most 20 times the time of the "
        "plain scan of `benchmarks/mdav_speed.py`, which runs on one thread; `best` at least "
        "16 % below.",
    )


if __name__ == "__main__":
    main()
