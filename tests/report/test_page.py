"""The finished page: nothing of a record is in it, nothing from outside, and every state reads."""

import re
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

import microagg
from microagg.measures.risk.wording import SharedValue
from microagg.measures.wording import FigureRow
from microagg.report.contents import Subject
from microagg.report.page import render
from microagg.tables.matching import open_pair

GEOMETRY = {"d", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "viewbox", "transform"}
GEOMETRY |= {"style", "clip-path", "href", "id", "points"}
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")


class Reader(HTMLParser):
    """Collects what a reader may see, hear or select, and how elements are nested."""

    def __init__(self):
        super().__init__()
        self.said, self.tags, self.open, self.ids, self.links = [], [], [], [], []
        self.silent = 0

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.said += [value or "" for name, value in attrs if name not in GEOMETRY]
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name in ("href", "src", "xlink:href")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in ("meta", "br"):
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.said.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    assert not reader.open
    return reader


def text_of(page):
    return "\n".join(read(page).said)


def numbers_in(text):
    return np.array([float(found.replace(",", "")) for found in NUMBER.findall(text)])


def told(page, values):
    """How many of these numbers stand in the text, to six digits or more."""
    numbers = numbers_in(text_of(page))
    values = np.asarray(values, dtype=float)
    close = np.abs(numbers[:, None] - values[None]) <= 1e-6 * np.abs(values)[None]
    return int(close.any(axis=0).sum())


@pytest.fixture(scope="module")
def pair(build, recognisable):
    return build.pair(recognisable)


@pytest.fixture(scope="module")
def pages(build, pair):
    """The page for internal use, and (True) the public one."""
    return {public: build.page(pair, public=public) for public in (False, True)}


@pytest.mark.parametrize("public", [False, True])
def test_no_records_values_are_in_it(build, recognisable, pair, pages, public):
    page = pages[public]
    for name in ("height", "income", "count"):
        assert told(page, pair.columns[name].before.numbers) == 0
        assert told(page, pair.columns[name].after.numbers) == 0
    text = text_of(page)
    assert not any(str(day) in text for day in recognisable["born"])
    assert "Northmarch" in text
    for name in ("region", "code"):
        column = pair.columns[name]
        shown = column.after if public else column.before
        counts = np.bincount(shown.numbers, minlength=len(column.categories))
        hidden = [str(column.categories[at]) for at in np.flatnonzero(counts < build.k)]
        assert len(hidden) >= 2
        assert not any(re.search(rf"\b{category}\b", page) for category in hidden)


def test_the_search_for_values_finds_them():
    page = "<p>between 87,654,321.987 and 170.123456</p>"
    assert told(page, [87654321.987, 170.123456, 5.0]) == 2


def test_no_minimum_maximum_or_outlier_in_few_digits(build, recognisable):
    before = recognisable.select("income")
    pair = open_pair(before, before.with_columns(income=3000.0), quasi_identifiers=["income"])
    numbers = numbers_in(text_of(build.page(pair)))
    incomes = np.sort(pair.columns["income"].before.numbers)
    n = len(incomes)
    assert not np.isclose(numbers, incomes[-1], rtol=0.05).any()
    assert not np.isclose(numbers, incomes[0], rtol=0.001).any()
    # Neither what the mean or the deviation would tell of it.
    assert not np.isclose(numbers * n, incomes[-1], rtol=0.02).any()
    assert not np.isclose(numbers * np.sqrt(n), incomes[-1], rtol=0.02).any()


@pytest.fixture(scope="module")
def apart():
    """A table whose values before lie elsewhere than those after."""
    rng = np.random.default_rng(2)
    n = 200
    base = rng.normal(size=n)
    before = pl.DataFrame(
        {
            "x": 77_500 + 90 * base,
            "y": 77_500 + 90 * (base + rng.normal(size=n)),
            "c": np.where(base > 0, "Oldname", "Oldother"),
            "d": pl.Series(rng.integers(-25_000, -20_000, n)).cast(pl.Int32).cast(pl.Date),
        }
    )
    after = pl.DataFrame(
        {
            "x": np.repeat(rng.normal(4, 1, n // 5), 5),
            "y": np.repeat(rng.normal(4, 1, n // 5), 5),
            "c": np.repeat(np.where(np.arange(n // 5) % 2, "Newname", "Newother"), 5),
            "d": pl.Series(np.repeat(rng.integers(18_000, 19_000, n // 5), 5))
            .cast(pl.Int32)
            .cast(pl.Date),
        }
    )
    return open_pair(before, after, quasi_identifiers=before.columns)


def signs_of_before(page):
    text = text_of(page)
    numbers = numbers_in(text)
    found = ["number"] if ((numbers > 60_000) & (numbers < 95_000)).any() else []
    found += re.findall(r"Oldname|Oldother|\b19\d\d\b|\bbefore\b|secret-file|c0ffee|424242", text)
    return found


def test_the_public_page_says_nothing_of_before(build, apart):
    rows = (
        FigureRow("inside", "77,500", "before"),
        FigureRow("outside", "1 %", "fine", public=True),
    )
    told = {
        "risk_rows": rows,
        "utility_rows": rows,
        "dropped": ["secret-file number"],
        "constraints": {
            "records_in_violation": {"x >= 0": 77_500},
            "groups_moved": 3,
            "groups_not_proved_nearest": 0,
            "farther_than_nearest_by_at_most": 0.0,
            "added_information_loss": 0.1,
        },
        "missing_values": {"treatment": "impute", "before": {"x": 77_500}, "after": {"x": 0}},
    }
    public = build.page(apart, public=True, **told)
    assert signs_of_before(public) == []
    assert "x &gt;= 0" in public
    assert "outside" in public
    assert "1 column that could name a person was removed" in public
    inside = signs_of_before(build.page(apart, **told))
    assert {"number", "Oldname", "before", "secret-file", "c0ffee", "424242"} <= set(inside)
    assert any(sign.startswith("19") for sign in inside)


@pytest.mark.parametrize("public", [False, True])
def test_nothing_comes_from_outside_and_nothing_runs(pages, public):
    page = pages[public]
    reader = read(page)
    assert "script" not in reader.tags
    assert (
        "Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'" in page
    )
    assert "http" not in page.replace("http-equiv", "")
    assert "//" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    assert "url(" not in page.replace("url(#", "")
    assert "@import" not in page
    assert all(link.startswith("#") for link in reader.links)
    assert not re.search(r"\son\w+=", page)


def test_ids_are_unique_and_links_lead_somewhere(pages):
    page = pages[False]
    reader = read(page)
    assert len(reader.ids) == len(set(reader.ids))
    used = {*re.findall(r"url\(#([^)]+)\)", page), *(link[1:] for link in reader.links)}
    assert used <= set(reader.ids)


def test_the_same_subject_gives_the_same_bytes(build, recognisable, pages):
    assert build.page(recognisable) == pages[False]


NASTY = "<script>alert(1)</script>\"'&$x_1$ ünï {{ 7*7 }} a name of more than forty letters %s"


@pytest.mark.parametrize("public", [False, True])
def test_names_are_text_and_nothing_else(build, public):
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {
            NASTY: rng.normal(size=90),
            "<img src=x onerror=y>": rng.normal(size=90),
            "c": rng.choice(["<b>bold</b>", "Q001Znnnn", "東京\x07", "$\\frac{1}{2}$"], 90),
        }
    )
    row = FigureRow("<i>m</i>", "<i>f</i>", "<i>r</i>", public=True)
    page = build.page(table, public=public, name="<h1>", risk_rows=(row,), utility_rows=(row,))
    reader = read(page)
    assert not {"script", "img", "b", "i"} & set(reader.tags)
    assert reader.tags.count("h1") == 1
    text = "".join(reader.said)
    for name in (NASTY, "<img src=x onerror=y>", "<b>bold</b>", "Q001Znnnn", "$\\frac{1}{2}$"):
        assert name in text
    assert not re.search(r"Q\d{3}Zn*(?!nnnn)\b", text.replace("Q001Znnnn", ""))


def test_every_figure_has_a_name_for_those_who_do_not_see_it(pages):
    page = pages[False]
    figures = re.findall(r'<svg role="img" aria-label="([^"]+)" class="figure"[^>]*><title>', page)
    assert len(figures) == page.count('class="figure"') >= 6
    assert "Histogram of height, before and after" in figures


TABLES = {
    "fewer than 2k records": pl.DataFrame({"x": np.arange(7.0), "c": list("aaaaabb")}),
    "one column": pl.DataFrame({"x": np.random.default_rng(0).normal(size=50)}),
    "constant": pl.DataFrame({"x": np.ones(50), "y": np.zeros(50)}),
    "all missing": pl.DataFrame(
        {"x": np.arange(50.0), "y": pl.Series([None] * 50, dtype=pl.Float64)}
    ),
    "categories only": pl.DataFrame({"c": ["a", "b"] * 25, "l": ["long name " * 9, "b"] * 25}),
    "true and false": pl.DataFrame({"b": [True, False] * 25}),
    "huge": pl.DataFrame({"x": np.linspace(-1, 1, 60) * 1e306, "y": np.arange(60) * 1e-300}),
}


@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_a_page(build, name, public):
    text = text_of(build.page(TABLES[name], public=public))
    assert "nan" not in text.replace("finance", "").lower().split()
    assert "None" not in text
    assert "inf" not in text.split()


def test_two_records():
    table = pl.DataFrame({"x": [1.2345678, 2.3456789]})
    with pytest.warns(microagg.core.errors.PrivacyWarning):
        release = microagg.protect(table, 1, method="mdav")
    page = render(Subject(release._origin.pair, release.manifest))
    assert told(page, [1.2345678, 2.3456789]) == 0
    assert "No protection" in page


@pytest.mark.slow
def test_many_columns_of_long_names(build):
    rng = np.random.default_rng(1)
    table = pl.DataFrame(
        {
            f"a name of a column that is longer than others & {i}": rng.normal(size=200)
            for i in range(60)
        }
    )
    pair = build.pair(table)
    page = build.page(pair)
    assert len(page) < 2_000_000
    assert "Each dot is a pair of columns" in page


def test_a_release_and_all_that_its_manifest_says():
    rng = np.random.default_rng(3)
    n = 200
    table = pl.DataFrame(
        {
            "who": [f"person {i}" for i in range(n)],
            "x": rng.normal(size=n),
            "y": pl.Series(rng.integers(0, 9, n)),
            "c": rng.choice(["u", "v"], n),
            "s": rng.choice(["north", "south"], n),
            "size": rng.choice(["Tinyname", "large"], n, p=[0.01, 0.99]),
            "ill": rng.choice(["yes", "no"], n),
        }
    ).with_columns(x=pl.when(pl.Series(np.arange(n) % 9 == 0)).then(None).otherwise(pl.col("x")))
    release = microagg.protect(
        table,
        5,
        identifiers=["who"],
        quasi_identifiers=["c", "size"],
        sensitive=["ill"],
        strata=["s"],
        missing="impute",
        constraints=["y >= 1"],
        columns={"size": {"type": "ordinal", "order": ["Tinyname", "large"]}},
        method="mdav",
        bound="fast",
    )
    page = render(Subject(release._origin.pair, release.manifest, name="People"))
    text = text_of(page)
    for words in (
        "k-anonymity with k = 5: kept and verified",
        "y >= 1",
        "replaced by the aggregate of their group",
        "2 strata by s",
        "protected (no role given)",
        "published unchanged",
        "removed",
        "contains values of columns; it is in the manifest",
        'method = "mdav"',
        "microagg 0",
    ):
        assert words in text
    assert "Tinyname" not in page
    assert "person " not in page.replace("person is", "").replace("a person", "").replace(
        "that person", ""
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"promise": "k-anonymity within each block of columns"}, "A weaker guarantee"),
        ({"promise": "probabilistic k-anonymity", "verified": False}, "on average only"),
        ({"promise": "none", "verified": False}, "No guarantee of k-anonymity"),
        ({"timed_out": True}, "ended by the time budget"),
        ({"weights": "w"}, "Records have weights (w)"),
        ({"key": "id"}, "random key"),
        ({"lower_bound": 20.0, "gap": 7.5}, "at most 7.5 % above"),
        ({"assumed_quasi_identifiers": ["x"]}, "1 column had no role and was protected"),
    ],
)
def test_what_the_manifest_says_is_on_the_page(build, changes, words):
    pair = build.pair(TABLES["one column"])
    assert words in text_of(build.page(pair, **changes))


@pytest.mark.parametrize("small", [0, 1, 4, 7])
@pytest.mark.parametrize("public", [False, True])
def test_merged_strata_are_not_called_unchanged(small, public):
    rng = np.random.default_rng(4)
    area = ["east"] * small + ["north"] * 40 + ["south"] * 40
    table = pl.DataFrame({"x": rng.normal(size=len(area)), "area": area})
    release = microagg.protect(
        table, 8, strata="area", small_strata="merge", method="mdav", bound="none"
    )
    page = text_of(render(Subject(release._origin.pair, release.manifest, public=public)))
    if public:
        assert "unchanged, except for merged strata" in page
        assert "merged strata (" not in page
    else:
        said = "unchanged, except for merged strata (fewer than 8 records)"
        assert (said in page) == (small > 0)


def test_many_merged_strata_are_counted():
    rng = np.random.default_rng(4)
    area = [str(i // 4) for i in range(24)] + ["north"] * 40
    table = pl.DataFrame({"x": rng.normal(size=len(area)), "area": area})
    release = microagg.protect(
        table, 8, strata="area", small_strata="merge", method="mdav", bound="none"
    )
    changed = int((release.table["area"] != table["area"]).sum())
    assert changed >= 8
    page = text_of(render(Subject(release._origin.pair, release.manifest)))
    assert f"unchanged, except for merged strata ({changed} records)" in page


def test_tables_of_figures(build):
    rows = tuple(FigureRow(f"measure {i}", f"{i} %", "means something") for i in range(20))
    page = build.page(TABLES["one column"], risk_rows=rows)
    assert page.count("means something") == 20
    assert "Not part of this report" in page


@pytest.mark.slow
def test_large_tables(build):
    rng = np.random.default_rng(4)
    values = {f"c{i}": np.repeat(rng.normal(size=20_000), 5) for i in range(10)}
    after = pl.DataFrame(values)
    before = after.with_columns(c0=pl.col("c0") + 0.1)
    pair = open_pair(before, after, quasi_identifiers=before.columns)
    manifest = build.manifest(pair)
    page = render(Subject(pair, manifest))
    assert all(f"c{i}" in page for i in range(10))
    assert len(page) < 2_000_000  # figures show bins, not records


@pytest.mark.slow
def test_cautions_of_one_kind_are_one_table(build, pair):
    rows = [SharedValue(f"answer {i}", f"{i} groups", f"{5 * i} records") for i in range(2, 22)]
    for public in (False, True):
        subject = Subject(pair, build.manifest(pair), shared_values=tuple(rows), public=public)
        page = render(subject)
        assert page.count("known to have it") == 1
        assert page.count("answer") == 20
        assert "Groups with one value" in page
        single = render(Subject(pair, build.manifest(pair), shared_values=(rows[0],)))
        assert "In 2 groups (10 records) all records have the same value of &#39;answer 2&#39;" in (
            single
        )
        assert "Groups with one value" not in single


@pytest.mark.parametrize("resolution", [None, "year"])
def test_a_bound_of_other_units_is_not_drawn(resolution, tmp_path):
    rng = np.random.default_rng(5)
    days = pl.Series(rng.integers(0, 9000, 120)).cast(pl.Int32).cast(pl.Date)
    table = pl.DataFrame({"seen": days, "x": rng.normal(size=120)})
    said = {"seen": {"resolution": resolution}} if resolution else None
    release = microagg.protect(table, 12, quasi_identifiers="seen", columns=said, method="mdav")
    assert release.lower_bound is not None
    page = release.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert ("proved to be unavoidable" in page) == (resolution is None)


@pytest.mark.slow
def test_one_information_loss_is_on_the_page(tmp_path):
    """Where a few records dominate a column, utility is that of the others, but not the loss."""
    chance = np.random.default_rng(2)
    amounts = np.append(chance.normal(100, 5, 59).round(1), 9e6)
    numbers = {name: chance.integers(20, 80, 60) for name in ("age", "size")}
    table = pl.DataFrame({**numbers, "turnover": amounts})
    microagg.protect(table, k=5, method="mdav").report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "These measures are without &#39;turnover&#39;: fewer than 5 records" in page
    assert "IL1s" in page
    assert "loss of released values" not in page
    even = table.with_columns(turnover=pl.col("age") * 2.5)
    microagg.protect(even, k=5, method="mdav").report(tmp_path / "even.html")
    assert "loss of released values" in (tmp_path / "even.html").read_text()


def test_the_columns_that_lose_most_are_in_the_order_that_is_shown(build):
    """Losses of categories are rounded up more coarsely, and may come out above others."""
    table = pl.DataFrame({"age": range(20, 80), "kind": ["a"] * 45 + ["b"] * 15})
    page = build.page(table, worst_columns={"age": 60.0, "kind": 57.0})
    assert "The columns that lose most, and how much at most: kind 100 %, age 60 %." in page


def test_the_loss_at_the_top_says_that_columns_are_missing_from_it(build):
    table = pl.DataFrame({"age": range(20, 80), "kind": ["a"] * 57 + ["b"] * 3})
    page = build.page(table)
    assert re.search(r"<dt>information loss without 1 column</dt><dd>at most [\d.]+ %</dd>", page)
    assert "(grouping loss, of all protected columns)" in page
    even = build.page(table.drop("kind"))
    assert re.search(r"<dt>information loss</dt><dd>at most [\d.]+ %</dd>", even)


def test_the_scale_has_no_bound_of_other_columns(build):
    """It is one of all columns; nor is a line at 0 of use, where rounding down leads."""
    table = pl.DataFrame({"age": range(20, 80), "kind": ["a"] * 57 + ["b"] * 3})
    line = "Blue line: the part that is proved to be unavoidable"
    facts = {"lower_bound": 15.0, "gap": 40.0}
    assert line in build.page(table.drop("kind"), **facts)
    assert line not in build.page(table, **facts)
    assert line not in build.page(table.drop("kind"), lower_bound=1e-3, gap=40.0)
