"""The plan of a release as TOML, without the values of columns."""

from microagg.plans.columns import keywords_about
from microagg.plans.plan import Plan
from microagg.plans.toml import toml_plan
from microagg.requirements.base import About
from microagg.tables.roles import DROP, IDENTIFIER

# Left out in public: how closely amounts that are not published may be estimated.
_CONFIDENTIAL = keywords_about(About.CONTRIBUTIONS)


def names_values(plan: Plan) -> bool:
    """Whether the plan lists values of a column: its categories in order, including rare ones."""
    return any(column.order is not None for column in plan.columns.values())


def plan_text(plan: Plan, *, public: bool) -> str:
    """Return the plan; a public one leaves out the seed and columns that are not published.

    The unit stays, as k counts it. Limits on what may be estimated about amounts are left out.

    >>> plan = Plan.of(k=5, random_state=1, columns={"net pay": {"role": "sensitive"}})
    >>> print(plan_text(plan, public=True))
    k = 5
    <BLANKLINE>
    [columns]
    "net pay" = { role = "sensitive" }
    """
    document = plan.as_dict()
    columns = document.pop("columns", {})
    options = document.get("method_options", {})
    unsaid = [name for name, value in options.items() if value is None]  # TOML has no word for it
    if unsaid:
        document["method_options"] = {n: v for n, v in options.items() if v is not None}
    if public:
        document.pop("random_state", None)
        columns = {
            name: known
            for name, said in columns.items()
            if (known := {key: value for key, value in said.items() if key not in _CONFIDENTIAL})
            and said.get("role") not in (IDENTIFIER, DROP)
        }
    shown = {name: _without_values(said) for name, said in columns.items()}
    notes = [f"# The option {name} is None, which a plan file cannot say." for name in unsaid]
    return "\n".join([toml_plan({**document, "columns": shown}).rstrip("\n"), *notes])


def _without_values(said: dict[str, object]) -> dict[str, object]:
    """Return the options of a column; of its order, only how many values it has."""
    order = said.get("order")
    if not isinstance(order, list):
        return said
    return {**said, "order": f"{len(order):,} values, not shown here"}
