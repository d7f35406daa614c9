"""microagg protect: what it writes and what it says."""

import collections
import csv
import gzip
import io
import json
import os
import re
import shlex
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from microagg.core.words import listed_names
from microagg.files import reading as files

ROLES = ("--identifier", "name", "--sensitive", "code")
MDAV = ("--method", "mdav")
OK_7 = ("people.csv", "-k", "7", *ROLES)
PROTECTED = ["age", "height", "income"]


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def smallest_class(rows, columns=PROTECTED):
    return min(collections.Counter(tuple(row[c] for c in columns) for row in rows).values())


def test_default_output_lies_beside_the_input_and_is_k_anonymous(run, folder):
    outcome = run("protect", "people.csv", "-k", "4", *ROLES)
    assert outcome.code == 0
    assert outcome.err == ""
    before = rows_of((folder / "people.csv").read_text("utf-8"))
    after = rows_of((folder / "people-protected.csv").read_text("utf-8"))
    assert list(after[0]) == ["age", "height", "income", "code"]
    assert [row["code"] for row in after] == [row["code"] for row in before]
    assert smallest_class(after) >= 4
    assert all(row["age"].isdigit() and row["income"].isdigit() for row in after)
    mean = sum(float(row["height"]) for row in before) / len(before)
    decimals = max(len(row["height"].partition(".")[2]) for row in before)
    after_rounding = 0.5 * 10**-decimals
    assert sum(float(row["height"]) for row in after) / len(after) == pytest.approx(
        mean, abs=after_rounding
    )
    assert max(len(row["height"].partition(".")[2]) for row in after) <= decimals


def test_summary_says_what_was_done(run, monkeypatch):
    argv = ("protect", "people.csv", "-k", "4", *ROLES, "--quasi-identifier", "age", "--seed", "3")
    monkeypatch.setenv("COLUMNS", "110")
    out = run(*argv).out
    assert "Protected 60 records at k = 4 with auto" in out
    facts = {line[2:20].strip(): line[20:].strip() for line in out.splitlines()[2:]}
    loss = r"[0-9.]+ % of the released values; most in (\w+ [0-9.]+ %(, )?){3}"
    assert re.fullmatch(loss, facts["information loss"])
    assert re.fullmatch(r"[0-9.]+ % of the groups about their means", facts["grouping loss"])
    assert re.fullmatch(r"1[0-5], of 4 to [5-7] records each", facts["groups"])
    bound = r"[0-9.]+ % .fast.: the grouping loss is at most [0-9.]+ % above the least possible"
    assert re.fullmatch(bound, facts["lower bound"])
    assert facts["seed"] == "3"
    assert "at least 4 records" in facts["verified"]
    assert facts["protected"] == "age, height, income"
    assert facts["assumed"] == "height, income (numeric columns without a role)"
    assert facts["dropped"] == "name"
    assert facts["unchanged"] == "code"
    assert facts["written to"] == "people-protected.csv"


def test_k_of_one_sounds_like_no_protection(run):
    outcome = run("protect", "people.csv", "-k", "1", *ROLES)
    assert outcome.code == 0
    assert outcome.err.startswith("microagg: warning: k = 1 protects nobody")
    assert outcome.err.count("\n") == 1
    assert outcome.out.startswith("Nobody is protected: 60 records written at k = 1")
    assert "60, of 1 record each" in outcome.out
    assert "stands for at least" not in outcome.out
    assert "  protected" not in outcome.out
    quiet = run("protect", "people.csv", "-k", "1", *ROLES, "--quiet", "--force")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    failed = run("protect", "people.csv", "-k", "1")
    assert (failed.code, failed.err.count("\n")) == (2, 1)


def test_groups_of_several_sizes(run):
    assert re.search(r"groups +8, of 7 to 11 records each", run("protect", *OK_7, *MDAV).out)


def test_time_is_that_of_the_whole_command(run, monkeypatch):
    def slowly(path):
        time.sleep(0.3)
        return path.read_bytes()

    monkeypatch.setattr(files, "_bytes_of", slowly)
    out = run("protect", "people.csv", "-k", "4", *ROLES).out
    assert float(re.search(r"time +([0-9.]+) s", out)[1]) >= 0.3


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        ("net income", "net income"),
        ("a, b", "'a, b'"),
        (' "x"', "' \"x\"'"),
        ("end ", "'end '"),
        ("two\nlines", "two lines"),
        ("n" * 41, "n" * 20 + "…" + "n" * 19),
        (
            "How satisfied are you with our services? [Roads]",
            "How satisfied are yo…r services? [Roads]",
        ),
        ("n" * 40, "n" * 40),
    ],
)
def test_names_in_a_summary_are_told_apart(column, shown):
    assert listed_names(["age", column]) == f"age, {shown}"


def test_summary_says_when_all_were_assumed_and_nothing_when_none(run):
    assert "all of these" in run("protect", "people.csv", "-k", "4", *ROLES).out
    named = [part for column in PROTECTED for part in ("--quasi-identifier", column)]
    assert "assumed" not in run("protect", "people.csv", "-k", "4", *ROLES, *named, "--force").out


def test_the_summary_says_which_space_a_loss_is_of(run):
    argv = ("protect", "people.csv", "-k", "4", *ROLES, "--method", "mdav")
    out = run(*argv, "--scale", "rank").out
    assert re.search(r"information loss +[0-9.]+ % of the released values; most in ", out)
    assert re.search(r"grouping loss, by rank +[0-9.]+ % of the groups about their means\n", out)


def test_json_is_one_object_with_the_promised_keys(run):
    outcome = run("protect", "people.csv", "-k", "4", *ROLES, "--json", "-o", "out.csv")
    assert outcome.err == ""
    assert outcome.out.count("\n") == 1
    facts = json.loads(outcome.out)
    promised = {
        *("information_loss", "sse", "sst", "lower_bound", "n_records", "n_groups"),
        *("min_group", "max_group", "method", "seconds"),
    }
    assert promised <= set(facts)
    assert 0 < facts["lower_bound"] < facts["grouping_loss"]
    assert facts["gap"] == pytest.approx(100 * (facts["grouping_loss"] / facts["lower_bound"] - 1))
    assert facts["output"]["file"] == "out.csv"
    assert facts == json.loads(Path("out.csv.manifest.json").read_text("utf-8")), "the same facts"
    assert facts["grouping_loss"] == pytest.approx(100 * facts["sse"] / facts["sst"])
    assert facts["information_loss"] > facts["grouping_loss"]  # whole numbers are rounded


def test_quiet_prints_nothing(run, folder):
    outcome = run("protect", "people.csv", "-k", "4", *ROLES, "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert (folder / "people-protected.csv").exists()


def test_quiet_does_not_silence_json(run):
    assert json.loads(run("protect", "people.csv", "-k", "4", *ROLES, "--quiet", "--json").out)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_formats_go_in_and_out_by_suffix(run, folder, suffix):
    table = pl.DataFrame(
        {
            "small": pl.Series([1, 2, 3, 40, 50, 60], dtype=pl.Int8),
            "single": pl.Series([0.5, 0.25, 1.5, 8.0, 9.0, 7.0], dtype=pl.Float32),
        }
    )
    table.write_parquet(folder / "t.parquet")
    assert run("protect", "t.parquet", "-k", "3", "-o", f"one{suffix}").code == 0
    assert run("protect", f"one{suffix}", "-k", "3").code == 0
    result = folder / f"one-protected{suffix}"
    if suffix == ".parquet":
        released = pl.read_parquet(result)
        assert released.schema == table.schema
    else:
        data = result.read_bytes()
        text = gzip.decompress(data) if suffix == ".csv.gz" else data
        released = pl.read_csv(text)
    assert released["small"].to_list() == [2, 2, 2, 50, 50, 50]
    assert released["single"].to_list() == [0.75, 0.75, 0.75, 8.0, 8.0, 8.0]


def test_suffix_may_be_in_capitals(run, folder):
    (folder / "people.csv").rename(folder / "PEOPLE.CSV")
    assert run("protect", "PEOPLE.CSV", "-k", "4", *ROLES).code == 0
    assert (folder / "PEOPLE-protected.CSV").exists()


def test_standard_input_goes_to_standard_output(run, folder, monkeypatch):
    data = (folder / "people.csv").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    outcome = run("protect", "-", "-k", "4", *ROLES)
    assert outcome.code == 0
    assert smallest_class(rows_of(outcome.out)) >= 4
    assert "Protected 60 records" in outcome.err
    assert "standard output" in outcome.err
    assert sorted(os.listdir(folder)) == ["people.csv"]


def test_force_replaces_an_existing_output(run, folder):
    (folder / "out.csv").write_text("old")
    assert run("protect", "people.csv", "-k", "4", *ROLES, "-o", "out.csv", "--force").code == 0
    assert smallest_class(rows_of((folder / "out.csv").read_text("utf-8"))) >= 4


def test_options_of_the_method_reach_it(run):
    out = run("protect", *OK_7, *MDAV, "--option", "leftover=nearest", "--json")
    assert json.loads(out.out)["options"]["leftover"] == "nearest"


def test_scale_changes_the_space(run):
    scaled = run("protect", "people.csv", "-k", "4", *ROLES, "--json", "-o", "a.csv")
    raw = run(
        "protect", "people.csv", "-k", "4", *ROLES, "--json", "-o", "b.csv", "--scale", "none"
    )
    assert json.loads(scaled.out)["sst"] == pytest.approx(59 * 3)
    assert json.loads(raw.out)["sst"] > 1e9


def test_kept_columns_survive_character_by_character(run, folder):
    kept = ["00123", "1.10", "1e5", "", '"quoted, with ""marks"""', '"two\nlines"', " x ", "é"]
    lines = [f"{i % 3},{value}" for i, value in enumerate(kept)]
    (folder / "t.csv").write_text("n,kept\n" + "\n".join(lines) + "\n", "utf-8")
    assert run("protect", "t.csv", "-k", "8", "--sensitive", "kept").code == 0
    expected = "n,kept\n" + "".join(f"1,{value}\n" for value in kept)
    assert (folder / "t-protected.csv").read_text("utf-8") == expected


def test_byte_order_mark_line_ends_and_odd_names_are_understood(run, folder):
    header = '"a ""b""","x,y",*,"^.*$"'
    body = "".join(f"{i},{i * 2},{i % 2},{i}.5\r\n" for i in range(6))
    (folder / "t.csv").write_bytes(b"\xef\xbb\xbf" + f"{header}\r\n{body}\r\n\r\n".encode())
    assert run("protect", "t.csv", "-k", "3", "--drop", "*", "--sensitive", "^.*$").code == 0
    written = (folder / "t-protected.csv").read_bytes()
    assert written.startswith(b"\xef\xbb\xbf")
    released = rows_of(written.decode("utf-8-sig"))
    assert list(released[0]) == ['a "b"', "x,y", "^.*$"]
    assert [row["^.*$"] for row in released] == [f"{i}.5" for i in range(6)]
    assert smallest_class(released, ['a "b"', "x,y"]) == 3


def test_unfamiliar_spellings_of_numbers_are_numbers(run, folder):
    (folder / "t.csv").write_text("a,b,c\n+1, 2,18446744073709551615\n+3, 4,18446744073709551613\n")
    assert run("protect", "t.csv", "-k", "2").code == 0
    assert (folder / "t-protected.csv").read_text() == "a,b,c\n" + "2,3,18446744073709551614\n" * 2


def test_input_without_a_final_newline_loses_no_record(run, folder):
    (folder / "t.csv").write_text("a,b\n1,2\n3,4")
    assert run("protect", "t.csv", "-k", "2").code == 0
    assert (folder / "t-protected.csv").read_text() == "a,b\n2,3\n2,3\n"


def test_compressed_output_is_the_same_every_time(run, folder):
    for name in ("a.csv.gz", "b.csv.gz"):
        assert run("protect", "people.csv", "-k", "4", *ROLES, "-o", name).code == 0
    assert (folder / "a.csv.gz").read_bytes() == (folder / "b.csv.gz").read_bytes()


def test_output_may_be_read_by_others_as_the_system_allows(run, folder):
    mask = os.umask(0o022)
    try:
        assert run("protect", "people.csv", "-k", "4", *ROLES).code == 0
    finally:
        os.umask(mask)
    assert (folder / "people-protected.csv").stat().st_mode & 0o777 == 0o644


def test_what_protect_wrote_verifies(run):
    assert run("protect", "people.csv", "-k", "4", *ROLES).code == 0
    assert run("verify", "people-protected.csv", "-k", "4", "--sensitive", "code").code == 0
    assert run("verify", "people-protected.csv", "-k", "5", "--sensitive", "code").code == 4


def facts_of(text):
    """Names and values of a summary; long values go on under themselves."""
    found, name = {}, ""
    for line in text.splitlines()[2:]:
        name = line[2:20].strip() or name
        found[name] = f"{found.get(name, '')} {line[20:].strip()}".strip()
    return found


def test_constraints_hold_in_the_file_and_the_summary_says_what_it_took(run, folder):
    limits = ("--constraint", "age <= 80", "--constraint", "'height' >= 0.01*income - 500")
    outcome = run("protect", *OK_7, *limits)
    assert (outcome.code, outcome.err) == (0, "")
    rows = rows_of((folder / "people-protected.csv").read_text("utf-8"))
    assert max(int(row["age"]) for row in rows) <= 80
    assert all(float(row["height"]) >= 0.01 * int(row["income"]) - 500.0001 for row in rows)
    facts = facts_of(outcome.out)
    before = rows_of((folder / "people.csv").read_text("utf-8"))
    old = sum(int(row["age"]) > 80 for row in before)
    assert facts["satisfied"].startswith("in every released record: age <= 80; 'height' >=")
    assert f"age <= 80 ({old})" in facts["violated before"]
    assert re.fullmatch(r"[0-9]+", facts["groups moved"])
    loss = r"(\S+) % of the groups about their means; satisfying the constraints adds (\S+) %"
    grouping, added = map(float, re.fullmatch(loss, facts["grouping loss"]).groups())
    total = float(facts["information loss"].split(" %")[0])
    assert total == pytest.approx(grouping + added, rel=1e-2)  # and what rounding adds
    told = json.loads(run("protect", *OK_7, *limits, "--json", "--force").out)["constraints"]
    assert told["records_in_violation"]["age <= 80"] == old


def test_a_draw_says_what_it_promises_and_what_came_out(run):
    outcome = run("protect", *OK_7, "--method", "efcm", "--seed", "1")
    assert outcome.out.startswith("60 records drew from 8 centres with efcm at k = 7\n")
    assert "'efcm' draws values at random and does not guarantee k" in outcome.err
    assert "anonym" not in outcome.out + outcome.err
    facts = facts_of(outcome.out)
    assert re.match(r"nothing: [0-9]+ of [0-9]+ centres expect fewer than 7", facts["promise"])
    assert "--strict-k" in facts["realised"]
    assert facts["drawn for"] == "age, height, income"
    few = run(
        *("protect", *OK_7, "--method", "efcm", "--seed", "1", "--force"),
        *("--option", "lambda2=0", "--option", "n_clusters=4"),
    ).out
    promised = "probabilistic k-anonymity: every centre expects 7 records or more"
    assert facts_of(few)["promise"] == promised


def test_a_strict_draw_keeps_k(run, folder):
    out = run("protect", *OK_7, "--method", "fcm", "--strict-k", "--seed", "1").out
    assert out.startswith("Protected 60 records at k = 7 with fcm\n")
    assert "at least" in facts_of(out)["verified"]
    assert smallest_class(rows_of((folder / "people-protected.csv").read_text("utf-8"))) >= 7


def test_formulas_are_escaped_on_request(run, refused, folder):
    (folder / "t.csv").write_text("=a,b\n" + "1,=x\n2,-5\n" * 5)
    argv = ("protect", "t.csv", "-k", "5", "--sensitive", "b", "--method", "mdav", "-o")
    assert "never a formula" in refused(2, *argv, "out.parquet", "--escape-formulas")
    outcome = run(*argv, "out.csv", "--escape-formulas")
    assert "an apostrophe before text" in outcome.out
    assert (folder / "out.csv").read_text().splitlines()[:3] == ["'=a,b", "1,'=x", "2,-5"]
    command = json.loads((folder / "out.csv.manifest.json").read_text())["command"]
    assert run(*shlex.split(command)[1:], "--force").code == 0
    assert (folder / "out.csv").read_text().startswith("'=a")
    assert run(*argv, "-", "--escape-formulas").out == (folder / "out.csv").read_text()
    assert run("verify", "out.csv").code == 0
