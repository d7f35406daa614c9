"""Every figure that microagg reports: what it is called, what it means, where it is defined."""

import dataclasses
import random
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import get_args

import polars as pl

import microagg
from docs.builder.reference.docstrings import Docstring
from microagg.measures.measure import Risk, Utility
from microagg.measures.measured import Measures
from microagg.measures.wording import FigureRow

RISK_DEFINITIONS = {
    "classes": "risk.md#class-sizes",
    "linkage": "risk.md#distance-linkage",
    "probabilistic": "risk.md#probabilistic-linkage",
    "informed": "risk.md#an-intruder-who-knows-the-method",
    "intervals": "risk.md#interval-disclosure",
    "drisk": "risk.md#drisk",
    "attributes": "risk.md#attribute-disclosure",
    "units": "risk.md#units-where-records-are-about-the-same-person",
    "individual": "individual-risk.md",
    "sample": "../guides/measure.md#how-exact",
}
UTILITY_DEFINITIONS = {
    "loss": "utility.md#information-loss-of-the-released-values",
    "il1s": "utility.md#il1s",
    "eigenvalues": "utility.md#eigenvalues",
    "moments": "utility.md#moments-quantiles-and-correlations",
    "associations": "utility.md#associations",
    "distributions": "utility.md#distributions",
    "propensity": "utility.md#propensity-pmse",
    "model": "utility.md#models-of-a-target",
    "units": "utility.md#information-loss-of-the-released-values",
    "sample": "../guides/measure.md#how-exact",
}
_OF_RELEASES = Path(__file__).with_name("of_releases.md")


def pages() -> dict[str, str]:
    """Return the page of figures."""
    return {"figures.md": "\n\n".join(_page()) + "\n"}


@cache
def example() -> Measures:
    """Return the measures of a made-up table with everything that can be measured."""
    draw = random.Random(4)
    people = pl.DataFrame(
        {
            "patient": draw.sample([at // 2 for at in range(120)], 120),
            "age": [draw.randint(18, 90) for _ in range(120)],
            "income": [round(draw.lognormvariate(8, 0.4), 2) for _ in range(120)],
            "region": [draw.choice(("north", "south", "west")) for _ in range(120)],
            "diagnosis": [draw.choice(("flu", "cold", "cough")) for _ in range(120)],
            "w": [draw.choice((5.0, 10.0, 15.0)) for _ in range(120)],
        }
    )
    release = microagg.protect(
        people,
        5,
        quasi_identifiers=["age", "income", "region"],
        sensitive=["diagnosis"],
        unit="patient",
        weights="w",
        method="mdav",
        bound="none",
    )
    # The unit is not in the release: the original has it.
    return microagg.measure(
        people,
        release.table,
        quasi_identifiers=["age", "income", "region"],
        sensitive=["diagnosis"],
        unit="patient",
        weights="w",
        target="income",
    )


def _page() -> Iterator[str]:
    yield "# Every figure"
    yield (
        "What microagg computes, in the words of its summaries, with links to the definitions: "
        "[risk](risk.md), [individual risk](individual-risk.md) and [utility](utility.md) have "
        "formulas, sources, and how to read each figure. The sentences are those of a made-up "
        "table of visits: 60 patients with two records each, in groups of five patients."
    )
    yield (
        "```python\nimport microagg\nfrom sklearn.datasets import load_iris\n\n"
        "flowers = load_iris(as_frame=True).data\n"
        'release = microagg.protect(flowers, k=5, method="mdav")\n'
        "release.information_loss  # of the release\n"
        "release.risk().linkage.linked[1]  # of risk\n"
        "release.utility().il1s.mean  # of utility\n```"
    )
    yield f"## Of a release\n\n{_OF_RELEASES.read_text('utf-8').strip()}"
    found = example()
    yield "## Risk"
    yield from _part("risk", Risk, RISK_DEFINITIONS, found.risk.rows())
    yield "## Utility"
    yield from _part("utility", Utility, UTILITY_DEFINITIONS, found.utility.rows())


def _part(
    name: str, kind: type, definitions: Mapping[str, str], rows: list[FigureRow]
) -> Iterator[str]:
    described = [
        f"| `{name}.{field.name}` | {_summary(field)} | [definition]({definitions[field.name]}) |"
        for field in dataclasses.fields(kind)
    ]
    yield "\n".join(["| where | what it holds | |", "|---|---|---|", *described])
    yield "In words, as `print(found)` and the report show them:"
    worded = [f"| {row.measure} | {row.figure} | {row.meaning} |" for row in rows]
    yield "\n".join(["| measure | for instance | what it means |", "|---|---|---|", *worded])


def _summary(field: "dataclasses.Field[object]") -> str:
    """Return the first sentence of the class that holds a figure."""
    kind = next((own for own in get_args(field.type) if own is not type(None)), field.type)
    return Docstring.of(kind.__doc__).summary.rstrip(".")
