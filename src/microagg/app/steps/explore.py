"""Explore: methods on one map of risk and loss, and what a release has changed."""

from collections.abc import Sequence

from htmltools import Tag, TagChild, TagList, tags

from microagg.app import plots
from microagg.app.answers import ColumnFigures, Figure, Protected
from microagg.app.desk import PROTECT, Action, Desk
from microagg.app.parts import (
    actions,
    button,
    card,
    does,
    empty,
    facts,
    heading,
    more,
    name_of,
    notice,
    raw,
    sentence,
    table,
)
from microagg.app.state import State
from microagg.app.steps import comparing
from microagg.app.steps.column_options import key_of
from microagg.app.steps.running import warnings_of
from microagg.app.words import unbroken, without_flags
from microagg.core.words import spread

_MOST_CARDS = 12
_MOST_CELLS = 30
_MOST_FIGURES = 18


def view(desk: Desk) -> TagList:
    """Return the step."""
    lead = "See what protection costs, before and after. Every figure is based on many records."
    head = heading("Explore", lead)
    if desk.described is None:
        go = button("Open a table", "go", id="to-data", kind="primary", step="data")
        return TagList(head, empty("There is no table yet.", go))
    made = desk.protected
    return TagList(
        head,
        _release(desk.state, made) if made is not None else _none_yet(desk),
        comparing.view(desk),
        _details(desk.state, made) if made is not None else None,
    )


def _none_yet(desk: Desk) -> Tag:
    if desk.is_running(PROTECT):
        return card(tags.p("The release is being made."), id="card-release")
    text = "There is no release yet. Compare methods below, or protect the table."
    if desk.has_other_release:
        text = "The choices have changed since the last release. Protect the table again, or undo."
    go = button("Go to Protect", "go", id="to-protect", kind="primary", step="protect")
    return card(empty(text, go), id="card-release")


def _release(state: State, made: Protected) -> Tag:
    done = made.manifest
    rows: list[tuple[TagChild, TagChild]] = [
        ("Information loss", tags.span(unbroken(made.loss), {"class": "big"})),
        *made.required,
        ("Groups", f"{done['n_groups']:,} of {spread(done['min_group'], done['max_group'])}"),
    ]
    return card(
        tags.p(made.title),
        notice(made.verdict, kind="good", id="verdict"),
        facts(rows),
        _loss_bar(made),
        *[tags.p(unbroken(without_flags(text))) for text in made.loss_sentences],
        tags.p(
            unbroken(
                f"Losses are rounded up to multiples of {made.steps[0]} (those of single columns "
                "more coarsely), so that they reveal nothing about fewer than "
                f"{made.least:,} records."
            ),
            {"class": "help"},
        ),
        *[notice(sentence(text), kind="caution") for text in made.cautions],
        *warnings_of(state, made),
        actions(
            button("Go to Release", "go", id="to-release", kind="primary", step="release"),
            button("Change the protection", "go", id="to-protect", kind="quiet", step="protect"),
        ),
        title="The release",
        id="card-release",
    )


def _loss_bar(made: Protected) -> Tag | None:
    if made.loss_share is None:
        return None
    bound = made.bound_share
    label = f"Information loss {made.loss}"
    at = 0.0 if bound is None else round(3.2 * bound, 1)
    mark = f'<line class="bound" x1="{at}" x2="{at}" y1="0" y2="14"/>' if at else ""
    share = round(3.2 * min(made.loss_share, 100.0), 1)
    svg = (
        f'<svg class="figure loss" viewBox="0 0 320 14" role="img" aria-label="{label}">'
        f'<rect class="track" width="320" height="10" y="2" rx="5"/>'
        f'<rect class="after" width="{share}" height="10" y="2" rx="5"/>'
        f"{mark}</svg>"
    )
    return tags.div(raw(svg))


def _details(state: State, made: Protected) -> TagList:
    return TagList(
        _columns(state, made),
        _correlations(made),
        _figures(
            "Risk",
            "What somebody could still find out. Shares that depend on the true values are rounded "
            f"up to multiples of {made.steps[1]}, so that they reveal nothing about fewer than "
            f"{made.least:,} records.",
            made.risk,
            "card-risk",
        ),
        _figures(
            "Utility",
            "How useful the table still is. Changes and distances are rounded up to multiples of "
            f"{made.steps[2]}; microagg measure has them in full.",
            made.utility,
            "card-utility",
        ),
        card(
            raw(
                plots.group_sizes(
                    made.group_sizes,
                    int(made.manifest["k"]),
                    f"Number of groups of each size, from {made.manifest['min_group']} to "
                    f"{made.manifest['max_group']}",
                )
            ),
            tags.p("Number of groups by the number of their records.", {"class": "help"}),
            title="Sizes of the groups",
            id="card-sizes",
        ),
    )


def _columns(state: State, made: Protected) -> Tag:
    wanted = state.view.search.strip().casefold()
    found = [own for own in made.columns if wanted in own.name.casefold()]
    many = len(made.columns) > _MOST_CARDS
    return card(
        tags.p(
            tags.span("before", {"class": "key before"}),
            tags.span("after", {"class": "key after"}),
            f" Every bin holds at least {made.least:,} records.",
            {"class": "help"},
        ),
        tags.div(
            tags.label("Find a column", {"for": "search", "class": "sr-only"}),
            tags.input(
                {"type": "search", "id": "search", "value": state.view.search, "data-live": ""},
                {"placeholder": "Find a column", "autocomplete": "off", **does("search")},
            ),
            {"class": "search"},
        )
        if many
        else None,
        tags.div([_column(own) for own in found[:_MOST_CARDS]], {"class": "figures"}),
        tags.p(
            f"The first {_MOST_CARDS} of {len(found):,} columns. Search to see others.",
            {"class": "help"},
        )
        if len(found) > _MOST_CARDS
        else None,
        title="Columns before and after",
        id="card-figures",
    )


def _column(own: ColumnFigures) -> Tag:
    figure = None
    if own.histogram is not None:
        figure = raw(plots.histogram(own.histogram, f"Histogram of {own.name}, before and after"))
    elif own.bars is not None:
        figure = raw(plots.bars(own.bars, f"Categories of {own.name}, before and after"))
    lines = [(line.name, line.before, line.after) for line in own.lines]
    return tags.article(
        tags.h3(name_of(own.name)),
        tags.p(own.kind, {"class": "help"}),
        figure,
        tags.p(own.note, {"class": "help"}) if own.note else None,
        more(
            "Figures",
            table(("Figure", "Before", "After"), lines, caption=f"Figures of {own.name}"),
            id=f"lines-{key_of(own.name)}",
        )
        if lines
        else None,
        {"class": "column"},
    )


def _correlations(made: Protected) -> Tag | None:
    found = made.correlations
    if found is None:
        return None
    change = (
        f"On average a correlation changed by {found.mean_change:.3f}, at most by "
        f"{found.largest_change:.3f}."
        if found.mean_change is not None and found.largest_change is not None
        else ""
    )
    is_small = len(found.names) <= _MOST_CELLS
    return card(
        tags.p(
            "Before below the diagonal, after above it. " if is_small else "",
            change,
            {"class": "help"},
        ),
        tags.div(
            raw(plots.heatmap(found, "Correlations of the columns, before and after")),
            {
                "class": "wide-figure",
                "tabindex": "0",
                "role": "region",
                "aria-label": "Correlations",
            },
        )
        if is_small
        else table(
            ("Columns", "Before", "After"),
            _most_changed(made),
            caption="Correlations that changed most",
        ),
        title="Correlations",
        id="card-correlations",
    )


def _most_changed(made: Protected, most: int = 20) -> list[tuple[str, str, str]]:
    """Return the pairs of columns whose correlation changed most."""
    found = made.correlations
    assert found is not None
    pairs = [
        (abs(after - before), f"{one} and {found.names[j]}", f"{before:.2f}", f"{after:.2f}")
        for i, one in enumerate(found.names)
        for j in range(i)
        if (before := found.before[i][j]) is not None and (after := found.after[i][j]) is not None
    ]
    return [pair[1:] for pair in sorted(pairs, reverse=True)[:most]]


def _figures(title: str, lead: str, rows: Sequence[Figure], id_: str) -> Tag | None:
    if not rows:
        return None
    listed = [
        tags.div(
            tags.h3(_titled(own.measure)),
            tags.p(unbroken(own.figure), {"class": "big"}),
            tags.p(unbroken(own.meaning), {"class": "help"}),
            {"class": "measure"},
        )
        for own in rows
    ]
    return card(
        tags.p(unbroken(lead), {"class": "help"}),
        tags.div(listed[:_MOST_FIGURES], {"class": "measures"}),
        more(
            f"{len(listed) - _MOST_FIGURES:,} further figures",
            tags.div(listed[_MOST_FIGURES:], {"class": "measures"}),
            id=f"{id_}-rest",
        )
        if len(listed) > _MOST_FIGURES
        else None,
        title=title,
        id=id_,
    )


def _titled(measure: str) -> str:
    """Begin a heading with a capital, unless it begins with a name such as pMSE."""
    return measure if measure[1:2].isupper() else measure[:1].upper() + measure[1:]


ACTIONS: dict[str, Action] = comparing.ACTIONS
