"""The tables of methods by feature, and by cost and source, from the registry."""

import re
from collections.abc import Iterator
from pathlib import Path

from microagg.core.registry import DEFAULT, METHODS, Guarantee, Method

_INDEX = Path(__file__).parents[2] / "methods" / "index.md"
_SIZES = {
    Guarantee.K_TO_2K_MINUS_1: "k to 2k-1",
    Guarantee.AT_LEAST_K: "at least k",
    Guarantee.K_ON_AVERAGE: "k on average; at least k with `strict_k`",
}
_NO_FEATURES = {"constraints", "n_jobs", "random_state", "strict_k", "time_budget"}


def pages() -> dict[str, str]:
    """Return the page with the tables."""
    return {"methods.md": "\n\n".join(_page()) + "\n"}


def _page() -> Iterator[str]:
    yield "# Methods by feature"
    yield (
        f"All {len(METHODS)} methods, as `microagg.methods()` and `microagg methods` list them. "
        "Constraints work with every method of `protect`; requirements, strata, weights and "
        "missing values with all except `fcm` and `efcm`. If you are not sure which to choose, "
        f"use `{DEFAULT}`. [Methods as estimators](partitions.md) describes the classes."
    )
    yield (
        "```pycon\n>>> import microagg\n"
        ">>> microagg.methods()[\"mdav\"].cost\n'O(n^2 d / k) at worst'\n"
        '>>> microagg.partitions.get("mdav")(k=2).fit_predict([[1.0], [9.0], [2.0], [8.0]])'
        ".tolist()\n[0, 1, 0, 1]\n\n```"
    )
    yield _table(
        ("method", "class", "groups", "same result", "time budget", "columns", "own options"),
        [_features(method) for method in METHODS.values()],
    )
    yield "## Cost and source"
    yield _table(
        ("method", "time", "source"),
        [(_linked(method), method.cost, _source(method)) for method in METHODS.values()],
    )


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [" | ".join(("", *cells, "")).strip() for cells in (header, *rows)]
    return "\n".join((lines[0], "|---" * len(header) + "|", *lines[1:]))


def _linked(method: Method) -> str:
    return f"[`{method.name}`](../methods/{explained_on(method.name)})"


def _source(method: Method) -> str:
    return "[its page](../methods/auto.md)" if method.name == DEFAULT else method.source


def _features(method: Method) -> tuple[str, ...]:
    options = [f"`{name}`" for name in method.options if name not in _NO_FEATURES]
    if method.needs:
        options.append(f"needs `{method.needs}`")
    return (
        _linked(method),
        f"[`{method.class_name}`](partitions.md#{method.class_name})",
        _SIZES[method.guarantee],
        "always" if method.deterministic else "with a seed",
        "yes" if "time_budget" in method.options else "",
        "one" if method.single_column else "any",
        ", ".join(options),
    )


def explained_on(name: str) -> str:
    """Return the page that explains a method, as the index of methods says."""
    for line in _INDEX.read_text("utf-8").splitlines():
        names, _, rest = line.removeprefix("| ").partition(" | ")
        if f"`{name}`" in names and (page := re.search(r"\]\(([\w-]+\.md)\)", rest)):
            return page[1]
    raise LookupError(f"docs/methods/index.md has no row for {name!r}: add one, with its page")
