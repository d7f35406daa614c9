"""microagg methods: the methods, what they guarantee and what they cost."""

from typing import TYPE_CHECKING, Any

import typer

from microagg.cli.layout import facts, print_json
from microagg.cli.options import JSON, takes

if TYPE_CHECKING:
    from microagg.core.registry import Method


@takes((JSON,))
def methods(*, given: dict[str, Any]) -> None:
    """List the methods: what each does, promises, costs and cites.

    n is the number of records, d the number of columns. Options are given to protect as
    --option NAME=VALUE.
    """
    from microagg.core.registry import METHODS

    if given["json"]:
        fields = ("name", "summary", "guarantee", "cost", "source")
        listing = [
            {
                **{field: str(getattr(m, field)) for field in fields},
                "options": _options(m),
                "deterministic": m.deterministic,
                "needs": m.needs,
            }
            for m in METHODS.values()
        ]
        print_json({"methods": listing})
        return
    margin = max(len(name) for name in METHODS) + 2
    typer.echo("\n\n".join(_block(method, margin) for method in METHODS.values()))


def _options(method: "Method") -> list[str]:
    from microagg.core.registry import NOT_OPTIONS

    return [option for option in method.options if option not in NOT_OPTIONS]


def _block(method: "Method", margin: int) -> str:
    details = [("promises", method.guarantee), ("costs", method.cost)]
    if method.needs:
        details.append(("needs", method.needed_flag))
    if not method.deterministic:
        details.append(("randomness", "used: the same --seed gives the same groups"))
    elif "random_state" in method.options:
        details.append(("randomness", "depends on its options: see its page"))
    if options := _options(method):
        details.append(("options", ", ".join(options)))
    details.append(("source", method.source))
    name = f"{method.name:{margin - 2}}"
    return f"{facts([(name, method.summary)], indent=0)}\n{facts(details, indent=margin)}"
