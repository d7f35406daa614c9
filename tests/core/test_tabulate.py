"""Tables of results, as text and in HTML."""

import pytest

from microagg.core.tabulate import html_table, text_table

ROWS = [["mdav", "16.9 %", "long words " * 20], ["auto [red]", "9.5 %", "<b>"]]


@pytest.mark.parametrize("width", [60, 100])
def test_no_line_is_too_long_and_nothing_is_lost(width):
    text = text_table(["method", "loss", "note"], ROWS, width=width)
    lines = text.split("\n")
    assert max(map(len, lines)) <= width
    assert lines[0].split() == ["method", "loss", "note"]
    assert set(lines[1]) == {"-"}
    assert text.count("long") == text.count("words") == 20
    assert "auto [red]   9.5 %  <b>" in text
    assert "\x1b" not in text
    assert all(line == line.rstrip() for line in lines)


def test_very_long_words_are_broken():
    assert text_table(["name"], [["n" * 150]], width=60).replace("\n", "").count("n") == 151


def test_numbers_are_aligned_to_the_right():
    text = text_table(["k", "n"], [["3", "1,080"], ["10", ""], ["5", "-2.5e-07"]])
    assert text.split("\n")[2:] == [" 3     1,080", "10", " 5  -2.5e-07"]


def test_title_and_no_header():
    assert text_table([], [["a", "b"], ["cc", "d"]], title="T") == "T\na   b\ncc  d"


def test_html_is_escaped():
    page = html_table(["m", "<i>"], [["a & b", "1"], ["<script>", "2"]], title="<T>")
    assert page.startswith("<table><caption>&lt;T&gt;</caption><thead>")
    assert "<script>" not in page
    assert "a &amp; b" in page
    assert page.count("text-align: right") == 3


def test_the_terminal_is_not_exceeded(monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    assert max(map(len, text_table(["a", "b", "c"], ROWS).split("\n"))) <= 70
    monkeypatch.setenv("COLUMNS", "300")
    assert max(map(len, text_table(["a", "b", "c"], ROWS).split("\n"))) <= 100


def test_blanks_after_names_are_seen():
    lines = text_table((), [["m", "1"], ["m ", "2"]]).splitlines()
    assert lines == ["m   1", "m␣  2"]
