"""Requirements as they are asked for in a plan, each with a plain check of one group of records.

The checks look at the records of the original table, row by row, and share nothing with the
package.
"""

from tests.requirements import slow_rules as slow

MARGIN = 1e-9

# For each: the keyword of `protect`, the column, and values from weak to strong.
ASKED = {
    "unit": ("unit", "who", (None,)),
    "distinct": ("l_diversity", "s", (1, 2, 3)),
    "entropy": ("l_diversity", "s", ("entropy:1.5", "entropy:2", "entropy:2.7")),
    "equal": ("t_closeness", "s", (0.9, 0.5, 0.25)),
    "ordered": ("t_closeness", "v", (0.7, 0.3, 0.1)),
    "p": ("p_percent", "x", (0, 5.0, 30.0)),
    "dominance": ("dominance", "x", ((1, 95.0), (2, 80.0), (1, 50.0))),
}


def keywords(wanted):
    """The arguments of protect, for a list of names and values."""
    made = {}
    for name, value in wanted:
        keyword, column, _ = ASKED[name]
        if keyword == "unit":
            made["unit"] = column
        else:
            made.setdefault(keyword, {})[column] = value
    return made


def meets(wanted, records, group, k):
    """Whether a group, a list of places among the records, is as asked for."""
    own = [records[at] for at in group]
    has_units = any(name == "unit" for name, _ in wanted)
    return len(own) >= k and all(
        _meets(name, value, own, records, k, has_units) for name, value in wanted
    )


def _meets(name, value, own, records, k, has_units):
    if name == "unit":
        return slow.distinct([row["who"] for row in own]) >= k
    if name == "distinct":
        return len({row["s"] for row in own}) >= value
    if name == "entropy":
        return slow.entropy_l([row["s"] for row in own]) >= float(value.split(":")[1]) - MARGIN
    if name in ("equal", "ordered"):
        column, distance = ("s", slow.equal_distance) if name == "equal" else ("v", _ordered)
        return distance([row[column] for row in own], [row[column] for row in records]) <= (
            value + MARGIN
        )
    who = [row["who"] if has_units else at for at, row in enumerate(own)]
    given = slow.contributions([row["x"] or 0.0 for row in own], who)
    if name == "p":
        return not given[0] or 100 * sum(given[2:]) / given[0] >= value - MARGIN * max(1, value)
    n, share = value
    total = sum(given)
    return not total or 100 * sum(given[:n]) / total <= share + MARGIN * share


def _ordered(values, everything):
    missing = float("inf")  # the last of all
    return slow.ordered_distance(
        [missing if v is None else v for v in values],
        [missing if v is None else v for v in everything],
    )
