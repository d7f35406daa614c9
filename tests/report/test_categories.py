"""Categories in the report: smallest first, and none below k can be worked out."""

import re
from itertools import product
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from microagg import protect
from microagg.report.bars import bars_of
from microagg.report.categories import ROWS, category_table
from microagg.report.rare import can_be_worked_out, named_categories
from microagg.tables.matching import open_pair

LEAST = 5


def column_of(before, after=None):
    """A column of categories with these numbers of records, None for missing ones."""
    sides = [
        pl.DataFrame({"c": [name for name, count in own.items() for _ in range(count)]})
        for own in (before, after or before)
    ]
    pair = open_pair(*sides, quasi_identifiers=["c"])
    return pair.columns["c"]


def rows_of(before, after=None, *, public=False):
    table = category_table(column_of(before, after), LEAST, public=public)
    return [tuple(vars(row).values()) for row in table.rows]


def possible(counts, least):
    """Every number that a small count can be, given the total and which counts are small."""
    small = [at for at, count in enumerate(counts) if count < least]
    large = [at for at, count in enumerate(counts) if count >= least]
    found = {at: set() for at in small}
    for guess in product(range(1, least), repeat=len(small)):
        rest = sum(counts) - sum(guess)
        if (large and rest >= least * len(large)) or (not large and rest == 0):
            for at, value in zip(small, guess, strict=True):
                found[at].add(value)
    return found


def test_what_can_be_worked_out_is_found_by_trying_everything():
    for least in (3, 4):
        for counts in product(range(1, 2 * least + 1), repeat=3):
            every = set(range(1, least))
            tells = any(own != every for own in possible(counts, least).values())
            assert can_be_worked_out(np.array(counts), least) == tells


def test_hidden_counts_leave_every_number_open():
    rng = np.random.default_rng(0)
    for _ in range(200):
        counts = rng.integers(0, 12, (2, 6))
        kept, other = named_categories(counts, 4, most=None)
        assert (counts[:, kept] >= 4).any(axis=0).all()
        hidden = [int(n) for n in counts[0, other] if n]
        if kept and hidden:
            assert all(own == {1, 2, 3} for own in possible(hidden, 4).values())


def test_the_smallest_come_first_and_are_counted_exactly_from_k_on():
    before = {"a": 30, "b": 5, "c": 12}
    assert rows_of(before, {"a": 35, "b": 0, "c": 12}) == [
        ("b", "5", "0"),
        ("c", "12", "12"),
        ("a", "30", "35"),
    ]


def test_rare_ones_are_fewer_than_k_and_the_next_hides_them():
    rows = rows_of({"a": 30, "b": 3, "c": 12, "d": 20}, {"a": 30, "b": 5, "c": 10, "d": 20})
    assert rows == [
        ("1 rare category", "fewer than 5", "5"),
        ("c", "5 or more", "10"),
        ("d", "20", "20"),
        ("a", "30", "30"),
    ]


def test_rare_ones_are_one_line_without_names():
    assert rows_of({"a": 30, "b": 3, "c": 2, "d": 12}, {"a": 35, "d": 12}) == [
        ("2 rare categories", "fewer than 5 each", "0"),
        ("d", "12", "12"),
        ("a", "30", "35"),
    ]


def test_two_categories_hide_both():
    assert rows_of({"a": 97, "b": 3}, {"a": 100}) == [
        ("1 rare category", "fewer than 5", "0"),
        ("a", "5 or more", "100"),
    ]


def test_missing_is_one_of_them():
    assert rows_of({"a": 30, "b": 12, None: 3}, {"a": 30, "b": 15}) == [
        ("1 rare category", "fewer than 5", "0"),
        ("b", "5 or more", "15"),
        ("a", "30", "30"),
    ]
    assert ("missing", "9", "9") in rows_of({"a": 30, "b": 12, None: 9})


def test_many_large_ones_are_added_up():
    counts = {f"c{at:02d}": 10 + at for at in range(50)}
    rows = rows_of(counts)
    assert len(rows) == ROWS + 1
    more = sum(sorted(counts.values())[ROWS:])
    assert rows[-1] == ("20 larger categories", f"{more}", f"{more}")


def test_the_public_page_has_the_released_numbers_only():
    rows = rows_of({"a": 30, "b": 3, "c": 12}, {"a": 33, "c": 12}, public=True)
    assert [(name, after) for name, _, after in rows] == [("c", "12"), ("a", "33")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    rng = np.random.default_rng(1)
    place = rng.normal(size=400)
    job = np.where(np.arange(400) < 3, "zz-rare", np.where(place > 0, "cook", "vet"))
    table = pl.DataFrame(
        {
            "job": job,
            "town": np.where(place + rng.normal(size=400) > 0, "north", "south"),
            "pay": place * 100,
        }
    )
    release = protect(table, 5, quasi_identifiers=["job", "town"], method="mdav", keep_margins=True)
    folder = tmp_path_factory.mktemp("pages")
    internal = release.report(folder / "internal.html").read_text("utf-8")
    public = release.report(folder / "public.html", public=True).read_text("utf-8")
    return SimpleNamespace(internal=internal, public=public, release=release)


def section(page):
    return page.partition('<section id="categories">')[2].partition("</section>")[0]


def test_the_internal_page_says_how_near_totals_are(pages):
    text = section(pages.internal)
    found = pages.release.manifest.categories.margins
    least = -(-found.deviation // 5) * 5
    assert found.deviation % 5  # it is not told as it is
    assert f"totals differ by at most {least:,.6g} records" in text
    assert "Every combination of categories in the release existed before." in text
    assert "fewer than 5" in text
    assert "job and town" in text
    assert "value of one record of the group" in pages.internal


def test_the_public_page_says_nothing_of_the_original(pages):
    text = section(pages.public)
    assert "before" not in text
    assert "fewer than" not in text
    assert "totals differ" not in text
    assert "job and town" in text
    assert "zz-rare" not in pages.internal


def test_a_table_of_numbers_has_no_such_section(tmp_path):
    table = pl.DataFrame({"x": np.arange(40.0), "y": np.arange(40.0) ** 2})
    page = protect(table, 4, method="mdav").report(tmp_path / "r.html").read_text("utf-8")
    assert 'id="categories"' not in page


def test_associations_and_correlations_are_told_once(tmp_path):
    rng = np.random.default_rng(3)
    sex = rng.choice(["m", "f", "m "], 300)
    table = pl.DataFrame(
        {
            "sex": sex,
            "region": np.where(sex == "m", "north", rng.choice(["north", "south"], 300)),
            "age": rng.integers(20, 80, 300),
            "pay ": rng.normal(1000, 200, 300).round(1),
        }
    )
    protect(table, 5, quasi_identifiers=table.columns, method="mdav", unit="rows").report(
        tmp_path / "r.html"
    )
    page = (tmp_path / "r.html").read_text()
    assert page.count("changed the associations of categories") == 1
    assert page.count("changed the correlations between columns") == 1
    utility = page[page.index('id="utility"') :]
    assert not re.search(r"<th[^>]*>(associations|correlations)</th>", utility)
    # Names that differ in blanks alone can be told apart.
    rows = re.findall(r'<th scope="row">(m.?)</th>', page)
    assert sorted(rows) == ["m", "m␣"]
    assert "pay␣" in page


def test_one_that_nearly_all_records_have_is_not_said_to_be_rare():
    table = pl.DataFrame({"country": ["USA"] * 50 + list("abcd"), "x": range(54)})
    column = open_pair(table, table, quasi_identifiers="country").columns["country"]
    found, note = bars_of(column, 5, public=False)
    assert found is None
    assert note == "Not shown: shares of its categories would reveal counts below 5 records."
