"""microagg methods: what can be chosen, what it promises and what it costs."""

from typing import TYPE_CHECKING

import typer

from microagg.cli.layout import facts, print_json
from microagg.cli.options import Json, Version

if TYPE_CHECKING:
    from microagg.core.registry import Method


def methods(json: Json = False, _version: Version = False) -> None:
    """List the methods: what each does, promises, costs and cites.

    n is the number of records, d the number of columns. Options are given to protect as
    --option NAME=VALUE.
    """
    from microagg.core.registry import METHODS

    if json:
        fields = ("name", "summary", "guarantee", "cost", "source")
        listing = [
            {
                **{field: str(getattr(m, field)) for field in fields},
                "options": _options(m),
                "deterministic": m.deterministic,
            }
            for m in METHODS.values()
        ]
        print_json({"methods": listing})
        return
    margin = max(len(name) for name in METHODS) + 2
    typer.echo("\n\n".join(_block(method, margin) for method in METHODS.values()))


def _options(method: "Method") -> list[str]:
    from microagg.core.registry import GIVEN_OTHERWISE

    return [option for option in method.options if option not in GIVEN_OTHERWISE]


def _block(method: "Method", margin: int) -> str:
    details = [("promises", method.guarantee), ("costs", method.cost)]
    if not method.deterministic:
        details.append(("chance", "yes: the same --seed gives the same groups"))
    elif "random_state" in method.options:
        details.append(("chance", "only by its options: the same --seed gives the same groups"))
    if options := _options(method):
        details.append(("options", ", ".join(options)))
    details.append(("source", method.source))
    name = f"{method.name:{margin - 2}}"
    return f"{facts([(name, method.summary)], indent=0)}\n{facts(details, indent=margin)}"
