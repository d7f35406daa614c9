"""Figures that a page shows beside docs/benchmarks.md are the same there, cell by cell."""

import re
from itertools import pairwise

import pytest

from docs.builder.drawings import BENCHMARKS
from docs.builder.errors import BuildError
from docs.builder.figures import ROOT
from docs.builder.tables import number, tables

KS = (3, 5, 10)
DATA = ("tarragona", "census", "eia")
FOUND = tables(BENCHMARKS.read_text("utf-8"))
BY_METHOD = "IL of every method with its default options"


def of_method(name):
    """What a method loses with its default options."""
    return lambda data, k: FOUND[BY_METHOD].numbers(f"{data} k={k}", method=f"`{name}`")


def in_table(heading, column):
    """A column of a table with a row for every table of the literature and every k."""
    return lambda data, k: FOUND[heading].numbers(column, data=data, k=str(k))


def of_classic(name, column):
    """A figure of the classics, which some papers do not have for all tables."""

    def find(data, k):
        try:
            return FOUND["The classics"].numbers(f"k={k} {column}", method=name, data=data)
        except BuildError:
            return []

    return find


def mdav_as_printed(data, k):
    return FOUND["MDAV"].numbers(f"k={k}", data=data, IL="printed")


BALANCED = '`auto` with effort="balanced" on the tables used in the literature'
# What the rows or columns of a page's table are called, and where their figures come from.
SAME = {
    "methods/auto.md": {
        "published": in_table(BALANCED, "best published"),
        "ours": in_table(BALANCED, "IL"),
    },
    "methods/icsm.md": {
        "printed": in_table("ICSM from MDAV", "printed"),
        "ours": in_table("ICSM from MDAV", "ours"),
    },
    "methods/mdav.md": {"printed": mdav_as_printed, "ours": of_method("mdav")},
    "methods/ordered.md": {
        "printed": in_table("Repeated ordering", "MDAV-MHM printed"),
        "ours": in_table("Repeated ordering", "MDAV-MHM ours"),
    },
    "methods/reporder.md": {
        "printed": in_table("Repeated ordering", "RepOrdMic printed"),
        "ours": in_table("Repeated ordering", "RepOrdMic ours"),
    },
    "methods/kmeans.md": {"mdav": of_method("mdav"), "kmeans": of_method("kmeans")},
    "methods/dba.md": {
        "ours, phase 1": of_classic("DBA-1", "ours"),
        "DBA-1": of_classic("DBA-1", "quoted"),
        "ours, both phases": of_method("dba"),
        "DBA-2": of_classic("DBA-2", "quoted"),
    },
    "methods/gsms.md": {"rest, both phases": of_method("gsms"), "`mdav`": of_method("mdav")},
    "methods/mu-approx.md": {
        "ours": of_method("mu-approx"),
        "literature": of_classic("mu-Approx", "quoted"),
    },
    "methods/tfrp.md": {
        "ours, both phases": of_method("tfrp"),
        "literature": of_classic("TFRP-2", "quoted"),
    },
}


def agree(shown, exact):
    """Whether a figure is another one, rounded to the decimals that it shows."""
    decimals = len(shown.partition(".")[2])
    return abs(float(shown) - exact) <= 0.5 * 10**-decimals + 1e-9


def shown_on(page):
    """Return the figures of a page for k = 3 / 5 / 10, by their name and table of the literature.

    Names are those of rows, and the tables columns, or the other way round.
    """
    found = {}
    for table in all_tables((ROOT / "docs" / page).read_text("utf-8")):
        header, *rows = table
        for row in rows:
            for name, cell in zip(header[1:], row[1:], strict=True):
                if cell.count(" / ") == 2:
                    place = name.partition(" ")[0]
                    key = (row[0], place) if place in DATA else (name, row[0])
                    found[key] = cell.split(" / ")
    return found


def all_tables(text):
    for block in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        lines = [line.strip().strip("|").split("|") for line in block.splitlines()]
        yield [[cell.strip() for cell in line] for at, line in enumerate(lines) if at != 1]


@pytest.mark.parametrize("page", SAME)
def test_losses_of_a_method(page):
    shown = shown_on(page)
    compared = 0
    for name, find in SAME[page].items():
        for data in DATA:
            expected = [exact for k in KS for exact in find(data, k)]
            for figure, exact in zip(shown.get((name, data), ()), expected, strict=True):
                assert agree(figure, exact), (name, data, figure, exact)
                compared += 1
    assert compared >= 15


def test_losses_in_the_readme():
    text = (ROOT / "README.md").read_text("utf-8")
    (table,) = (own for own in all_tables(text) if own[0][0] == "method")
    named = [title.partition(" ")[0] for title in table[0][1::3]]  # each stands for three columns
    assert sorted(named) == sorted(DATA)
    places = [(data, k) for data in named for k in KS]
    for name, *figures in table[1:]:
        method = re.match(r"`([\w-]+)`", name)[1]
        for (data, k), figure in zip(places, figures, strict=True):
            assert [agree(figure, exact) for exact in of_method(method)(data, k)] == [True]


def test_igd_from_its_default_start():
    *_, (header, *rows) = all_tables((ROOT / "docs/methods/igd.md").read_text("utf-8"))
    places = [(data, k) for data in DATA for k in KS]
    for (data, k), row in zip(places, rows, strict=True):
        shown = dict(zip(header, row, strict=True))
        assert shown["k"] == str(k)
        for here, there in (("printed", "IGD printed"), ("mdav-mhm", "IGD ours")):
            figure = shown[here].strip("*")
            assert agree(figure, *in_table("Repeated ordering", there)(data, k))


def test_errors_of_hac():
    table = next(
        own
        for own in all_tables((ROOT / "docs/methods/hac.md").read_text("utf-8"))
        if own[0][1] == "k = 3"
    )
    there = FOUND["HAC and MDAV on census"]
    compared = 0
    for above, row in pairwise(table):
        printed, ours = above[0], row[0] == "ours"
        section = re.search(r"(?:chapter )?(6|7\.\d \w+|MDAV)", printed if ours else row[0])
        if section is None or "not in the thesis" in row[0]:
            continue
        name = {"MDAV": "5 MDAV", "7.3 single": "7.3 priority"}.get(section[1], section[1])
        for title, cell in zip(table[0][1:], row[1:], strict=True):
            column = "SSE ours" if ours else "SSE printed"
            exact = there.numbers(column, section=name, k=title.removeprefix("k = "))
            assert agree(cell.strip("*"), *exact), (row[0], title)
            compared += 1
    assert compared == 44


def test_t_closeness():
    (table,) = (
        own
        for own in all_tables((ROOT / "docs/methods/tclose.md").read_text("utf-8"))
        if own[0][0] == "t"
    )
    header, *rows = table
    for name, *figures in rows:
        for t, figure in zip(header[1:], figures, strict=True):
            assert agree(figure, *FOUND["t-closeness on census, k = 2"].numbers(name, t=t))


def test_a_figure_agrees_only_if_it_is_rounded_rightly():
    assert agree("4.69", 4.686)
    assert agree("21", 21.3)
    assert not agree("4.68", 4.686)
    assert number("1,000") == 1000
