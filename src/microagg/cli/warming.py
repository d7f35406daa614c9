"""What is compiled on first use: which kernels there are, and a run of each of them."""

import importlib
import pkgutil
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from microagg.kernels.compile import Kernel

ROOM = "microagg.kernels"
_K, _RECORDS = 3, 60


class Step(NamedTuple):
    """A part of the package, and a call that compiles what it needs."""

    name: str
    run: Callable[[], object]


def loaded_kernels() -> list[Kernel]:
    """Return the kernels that Python calls, in all modules that have been imported."""
    modules = [own for name, own in [*sys.modules.items()] if name.startswith(f"{ROOM}.")]
    found = {id(own): own for module in modules for own in vars(module).values()}
    return [own for own in found.values() if isinstance(own, Kernel) and not _is_inner(own)]


def all_kernels() -> list[Kernel]:
    """Return every kernel that Python calls."""
    room = importlib.import_module(ROOM)
    for module in pkgutil.walk_packages(room.__path__, f"{ROOM}."):
        importlib.import_module(module.name)
    return loaded_kernels()


def _is_inner(kernel: Kernel) -> bool:
    # What other kernels call is compiled with them; only tests compile it for Python.
    return kernel._from_python is not kernel._from_kernels


def stored_in(kernel: Kernel) -> Path | None:
    """Return the folder in which a kernel is stored once it is compiled, if there is one."""
    folder = kernel._from_python.stats.cache_path
    return None if folder is None else Path(folder)


def name_of(kernel: Kernel) -> str:
    """Return the module and the name of a kernel, without those of its package.

    >>> from microagg.kernels.paths.tours import shorten_tour
    >>> name_of(shorten_tour)
    'tours.shorten_tour'
    """
    return f"{kernel.__module__.rpartition('.')[2]}.{kernel.py_func.__name__}"


def steps() -> Iterator[Step]:
    """Return calls that use every kernel once, on a table that is made up."""
    yield from (Step(f"method {name}", partial(_method, name)) for name in _plain())
    yield Step("requirements", _requirements)
    yield Step("constraints", _constraints)
    yield Step("hybrid records", lambda: _protect(k=9, hybrid=True))
    yield Step("new records", _new_records)
    yield Step("margins", lambda: _protect(quasi_identifiers=["c"], keep_margins=True))
    yield Step("risk and utility", _measures)
    yield Step("bounds", _bounds)
    yield Step("studies", _studies)
    yield Step("large tables", _large)


def _plain() -> list[str]:
    from microagg.core.registry import METHODS

    return [name for name, method in METHODS.items() if not method.needs]


def _matrix(columns: int = 3, records: int = _RECORDS) -> Any:
    return np.random.default_rng(1).normal(size=(records, columns)).round(3)


def _table(records: int = _RECORDS) -> Any:
    """Return a table with a unit, amounts, a category, sensitive columns and a weight."""
    import polars as pl

    draw = np.random.default_rng(2)
    net, tax = draw.integers(10, 90, records), draw.integers(1, 9, records)
    return pl.DataFrame(
        {
            "unit": draw.permutation(records) // 2,
            "net": net,
            "tax": tax,
            "gross": net + tax,
            "x": draw.normal(size=records),
            "c": draw.choice(["a", "b", "c"], records),
            "s": draw.choice(["u", "v", "w"], records),
            "days": draw.permutation(records),
            "w": draw.uniform(1, 3, records),
        }
    )


def _protect(table: Any = None, *, k: int = _K, **options: Any) -> Any:
    """Protect the table, of which only the columns that are quasi-identifiers stay."""
    from microagg.release.protect import protect

    chosen: dict[str, Any] = {"quasi_identifiers": ["net", "tax", "gross", "x"]}
    chosen |= {"sensitive": ["s"], "random_state": 1, "effort": "fast"} | options
    method = chosen.get("method", "auto")
    if method != "auto":
        del chosen["effort"]
    named = {*chosen["quasi_identifiers"], *chosen["sensitive"], chosen.get("unit")}
    named |= {chosen.get("weights")}
    found = _table() if table is None else table
    return protect(found.select(own for own in found.columns if own in named), k, **chosen)


def _method(name: str) -> None:
    """Group a matrix, and whole numbers where the method can keep them whole."""
    from microagg.core.registry import METHODS

    method = METHODS[name]
    columns = 1 if method.single_column else 3
    seeded = {"random_state": 1} if "random_state" in method.options else {}
    method.load()(k=_K, **seeded).fit(_matrix(columns))
    if "integer" in method.options:
        method.load()(k=_K, integer=True).fit((100 * _matrix(columns)).round())


def _requirements() -> None:
    """Hold groups to units, l-diversity, t-closeness, p per cent and dominance."""
    asked: tuple[dict[str, Any], ...] = (
        {"unit": "unit"},
        {"l_diversity": {"s": 2}},
        {"l_diversity": {"s": "entropy:1.5"}},
        {"t_closeness": {"s": 0.5}},
        {"p_percent": {"net": 5}, "dominance": {"net": (1, 90)}},
    )
    for options in asked:
        _protect(**options)
    for method in ("auto", "mdav", "icsm", "tclose-first", "tclose-merge"):
        _protect(method=method, sensitive=["days"], t_closeness={"days": 0.3})
    _protect(_table(10), l_diversity={"s": 2})  # so few that all partitions are tried


def _constraints() -> None:
    """Keep totals, of whole numbers and of others."""
    _protect(constraints=["net + tax = gross", "tax >= 0"])
    _protect(constraints=["net + tax = gross", "net + x >= 50"])  # which half of them violate


def _new_records() -> None:
    """Send records to the groups of others."""
    from microagg.release.transformer import Microaggregator

    Microaggregator(k=_K, effort="fast", random_state=1).fit(_matrix()).transform(_matrix())


def _measures() -> None:
    """Measure risk and utility, of records and of units, with weights."""
    from microagg.doors.measure import measure

    release = _protect(unit="unit", weights="w")
    release.risk()
    table = _table().select("unit", "net", "tax", "gross", "x", "s", "w")
    kept = release.table.columns
    measure(table, release.table.select(kept), unit="unit", weights="w", target="x")


def _bounds() -> None:
    """Compute both kinds of lower bound."""
    from microagg.bounds import lower_bound

    for tightness in ("fast", "tight"):
        lower_bound(_matrix(2, 24), _K, tightness=tightness)


def _studies() -> None:
    """Sweep over values of k."""
    from microagg.studies.sweep import sweep

    sweep(_matrix(), [2, _K], random_state=1)


def _large() -> None:
    """Group and order more records than are searched or walked at once."""
    from microagg.core.registry import METHODS
    from microagg.orderings import by_groups
    from microagg.partitions.search.large import is_large

    records = 1000
    while not is_large(records, _K):
        records *= 2
    X = _matrix(2, records)
    METHODS["auto"].load()(k=_K, effort="fast", random_state=1).fit(X)
    by_groups(X, np.arange(records) % 4)


def warm() -> Iterator[tuple[str, int, int]]:
    """Run all steps, and return before each what it is, and how many of how many are done."""
    every = list(steps())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a table that protects nobody
        for done, step in enumerate(every):
            yield step.name, done, len(every)
            step.run()
