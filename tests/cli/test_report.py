"""Reports beside what protect writes."""

import pytest

from tests.cli.conftest import SECRETS

OK = ("protect", "people.csv", "-k", "3", "--identifier", "name", "--sensitive", "code")
FAST = ("--method", "mdav", "--bound", "none")


def test_both_versions_are_written_with_the_table(run, folder):
    outcome = run(*OK, *FAST, "--report", "in.html", "--public-report", "out.html")
    assert (outcome.code, outcome.err) == (0, "")
    assert "in.html (keep this file internal)" in outcome.out
    assert "public report     out.html\n" in outcome.out
    inside, outside = ((folder / name).read_text() for name in ("in.html", "out.html"))
    for page in (inside, outside):
        assert "linked by distance" in page
        assert not any(secret in page for secret in SECRETS)
    assert "people.csv" in inside
    assert "people.csv" not in outside


def test_a_table_on_standard_output_may_have_a_report(run, folder):
    outcome = run(*OK, *FAST, "-o", "-", "--report", "in.html", "-q")
    assert outcome.out.startswith("age,height,income,code\n")
    assert "linked by distance" in (folder / "in.html").read_text()


@pytest.mark.parametrize("option", ["--report", "--public-report"])
def test_what_cannot_be_written_stops_the_run_before_it_begins(refused, folder, option):
    assert "ends with .html" in refused(2, *OK, *FAST, option, "report.pdf")
    assert "standard output" in refused(2, *OK, *FAST, option, "-")
    (folder / "old.html").write_text("precious")
    assert "--force" in refused(2, *OK, *FAST, option, "old.html")
    assert refused(2, *OK, *FAST, option, "missing/in.html")
    assert (folder / "old.html").read_text() == "precious"


def test_the_input_is_never_overwritten_by_whatever_name(refused, folder):
    original = (folder / "people.csv").read_bytes()
    for name in ("l.html", "l.svg"):
        (folder / name).symlink_to("people.csv")
    assert "never overwritten" in refused(2, *OK, *FAST, "--report", "l.html", "--force")
    assert "never overwritten" in refused(2, *OK, *FAST, "--public-report", "l.html", "--force")
    figure = ("compare", "people.csv", "-k", "3", *OK[4:], "--methods", "mdav", "--figure", "l.svg")
    assert "never overwritten" in refused(2, *figure, "--force")
    assert (folder / "people.csv").read_bytes() == original


def test_two_reports_need_two_names(refused):
    both = ("--report", "r.html", "--public-report", "r.html")
    refused(2, *OK, *FAST, *both)
    refused(2, *OK, *FAST, "-o", "-", *both, "--force")


def test_the_manifest_does_not_replace_the_input_either(refused, folder):
    original = (folder / "people.csv").read_bytes()
    (folder / "o.csv.manifest.json").symlink_to("people.csv")
    assert "never overwritten" in refused(2, *OK, *FAST, "-o", "o.csv", "--force")
    assert (folder / "people.csv").read_bytes() == original
