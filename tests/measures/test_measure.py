"""measure(): risk and utility of any pair of tables, and of releases."""

import html
import json
import re
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import microagg
from microagg import Plan, measure, protect, protect_file
from microagg.core.errors import DataError, ParameterError, PrivacyWarning
from microagg.tables import sides
from microagg.tables.scaling import scaling

RNG = np.random.default_rng(11)
N = 120
PEOPLE = pl.DataFrame(
    {
        "id": range(N),
        "age": RNG.integers(18, 90, N),
        "income": RNG.lognormal(10, 0.6, N).round(2),
        "sex": RNG.choice(["f", "m"], N),
        "ill": RNG.choice(["no", "flu", "cold"], N),
    }
)
ROLES = {"quasi_identifiers": ["sex"], "identifiers": ["id"], "sensitive": ["ill"]}
RELEASE = protect(PEOPLE, 4, method="mdav", **ROLES)


def test_a_release_measures_itself_as_measure_does():
    found = measure(PEOPLE, RELEASE.table)
    assert json.dumps(found.risk.as_dict()) == json.dumps(RELEASE.risk().as_dict())
    own, other = RELEASE.utility(target="ill"), measure(PEOPLE, RELEASE.table, target="ill").utility
    assert json.dumps(own.as_dict()) == json.dumps(other.as_dict())


def test_what_was_measured_is_said():
    found = measure(PEOPLE, RELEASE.table)
    assert found.quasi_identifiers == ("age", "income", "sex")
    assert found.sensitive == found.assumed == ("ill",)
    assert found.dropped == ("id",)
    facts = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert facts["n_records"] == N
    assert facts["min_group"] == 4
    assert facts["assumed_sensitive"] == ["ill"]
    assert facts["risk"]["classes"]["smallest"] == 4
    assert set(facts) > {"information_loss", "sse", "sst", "n_groups", "max_group", "seconds"}


def test_what_is_left_out_is_listed_whoever_says_so(tmp_path):
    release = protect(PEOPLE, 4, method="mdav", keep_key=True, **ROLES)
    assert "id" in release.table.columns
    assert measure(PEOPLE, release.table, plan=release.manifest.plan).dropped == ("id",)
    assert measure(PEOPLE, release.table, identifiers="id").dropped == ("id",)
    PEOPLE.write_csv(tmp_path / "in.csv")
    release.save(tmp_path / "out.csv")
    assert measure(tmp_path / "in.csv", tmp_path / "out.csv").dropped == ("id",)


def test_nothing_changed_is_full_risk_and_full_utility():
    found = measure(PEOPLE, PEOPLE, identifiers="id", sensitive="ill")
    assert found.risk.linkage.linked[1] == pytest.approx(1.0)
    assert found.utility.loss.information_loss == 0.0
    assert found.utility.il1s.total == 0.0
    assert found.utility.eigenvalues.change == pytest.approx(0.0)


def test_a_constant_table_is_linked_by_guessing_only():
    gone = PEOPLE.with_columns(age=pl.lit(50), income=pl.lit(1.0), sex=pl.lit("f"))
    found = measure(PEOPLE, gone, identifiers="id")
    assert found.risk.linkage.linked[1] == pytest.approx(1 / N)
    assert found.risk.probabilistic.linked[1] == pytest.approx(1 / N)
    assert found.risk.classes.smallest == N


@pytest.mark.parametrize("convert", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_kinds_of_tables_make_no_difference(convert):
    found = measure(convert(PEOPLE), convert(RELEASE.table))
    same = measure(PEOPLE, RELEASE.table)
    assert json.dumps(found.risk.as_dict()) == json.dumps(same.risk.as_dict())


def test_records_may_come_in_any_order_with_a_key():
    protected = RELEASE.table.with_columns(PEOPLE["id"]).sample(fraction=1, shuffle=True, seed=1)
    found = measure(PEOPLE, protected, key="id")
    same = measure(PEOPLE, RELEASE.table)
    assert found.risk.linkage.linked == pytest.approx(same.risk.linkage.linked)
    loss = found.utility.loss.information_loss
    assert loss == pytest.approx(same.utility.loss.information_loss)


def test_strata_are_what_an_intruder_knows():
    release = protect(PEOPLE.drop("id"), 4, strata="sex", sensitive="ill", method="mdav")
    assert (
        "sex" in measure(PEOPLE, release.table, quasi_identifiers=["age", "sex"]).quasi_identifiers
    )
    assert release.risk().classes.smallest >= 4


@pytest.mark.slow
def test_a_draw_leaves_the_informed_intruder_guessing():
    numbers = PEOPLE.select("age", "income")
    with pytest.warns(PrivacyWarning):
        release = protect(numbers, 4, method="fcm", random_state=1)
    informed = release.risk().informed
    assert informed.linked == pytest.approx(1 / N)
    assert "at random" in " ".join(row.meaning for row in release.risk().rows())


@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_every_row_has_a_figure_and_words(n_columns, missing):
    rng = np.random.default_rng(2)
    values = {f"x{j}": rng.normal(size=50) for j in range(n_columns)}
    table = pd.DataFrame(values).mask(rng.random((50, n_columns)) < missing)
    release = protect(table, 3, method="mdav", missing="value")
    rows = [
        *release.risk().rows(),
        *release.utility(target="x0" if n_columns > 1 else None).rows(),
    ]
    assert len(rows) > 8
    for row in rows:
        assert all(row[:3])
        assert "nan" not in row.figure


def test_what_cannot_be_measured_is_said():
    with pytest.raises(ParameterError, match="target 'size' is not among"):
        measure(PEOPLE, RELEASE.table, target="size")
    tables = [own.rename({"age": "48200"}) for own in (PEOPLE, RELEASE.table)]
    with pytest.raises(ParameterError, match=r"columns\. Some of its columns have numbers for nam"):
        measure(*tables, target="incomes")
    with pytest.raises(DataError, match="same records in the same order"):
        measure(PEOPLE, RELEASE.table[:5])
    with pytest.raises(ParameterError, match="DataFrame"):
        measure(PEOPLE, [1, 2])
    with pytest.raises(ParameterError, match="no column 'agee'"):
        measure(PEOPLE, RELEASE.table, quasi_identifiers="agee")


def test_the_names_are_public():
    assert microagg.measure is measure
    assert {"measure", "Measures"} <= set(microagg.__all__)


def test_a_report_is_written_whole_and_only_over_nothing(tmp_path):
    path = RELEASE.report(tmp_path / "report.html", target="ill")
    page = path.read_text()
    assert "linked by distance" in page
    assert "balanced accuracy" in page
    with pytest.raises(ParameterError, match="force"):
        RELEASE.report(path)
    with pytest.raises(ParameterError, match=r"ends with \.html"):
        RELEASE.report(tmp_path / "report.txt")
    public = RELEASE.report(path, public=True, force=True).read_text()
    assert public != page
    assert "before: 100 %" in page
    assert "before: 100 %" not in public


def test_a_public_report_has_only_rows_that_tell_nothing_of_single_values(tmp_path):
    values = np.random.default_rng(5).normal(50, 1, 100)
    values[17] = 12_345.0
    table = pl.DataFrame({"x": values, "y": np.random.default_rng(6).normal(size=100)})
    release = protect(table, 5, method="mdav")
    public = release.report(tmp_path / "public.html", public=True).read_text()
    inside = release.report(tmp_path / "inside.html").read_text()
    for row in release.risk().rows():
        assert f">{row.measure}<" in inside
        assert (f">{row.measure}<" in public) == row.public
    assert not any(row.public for row in release.utility().rows())
    # One record makes up x: what would tell it is in neither.
    assert "1 column" in inside
    assert "These measures are without &#39;x&#39;: fewer than 5 records" in inside
    assert "variances" in inside
    assert "in &#39;x&#39;" not in inside
    losses = [
        float(re.search(r"<dd>at most ([\d.]+) %</dd>", page)[1]) for page in (public, inside)
    ]
    of_columns = release.utility().loss.columns
    assert "In the protected columns other than x, the released values differ" in public
    assert 0 <= losses[0] - of_columns["y"] < 5
    assert 0 <= losses[1] - release.information_loss < 5


def test_a_type_says_only_what_a_column_is():
    dated = PEOPLE.with_columns(
        born=pl.Series([f"19{40 + i % 50}-01-0{1 + i % 9}" for i in range(N)])
    )
    protected = dated.with_columns(pl.lit("1965-01-01").alias("born"), pl.col("age") // 10 * 10)
    plain = measure(dated, protected, identifiers="id")
    told = measure(dated, protected, identifiers="id", columns={"born": {"type": "date"}})
    assert plain.quasi_identifiers == told.quasi_identifiers == ("age", "born")
    assert plain.risk.as_dict() == told.risk.as_dict()
    assert "born" in plain.utility.moments.columns  # dates, though text


def test_what_looks_like_the_wrong_thing_is_said():
    shuffled = RELEASE.table.sample(fraction=1, shuffle=True, seed=3)
    assert "shuffled" in " ".join(measure(PEOPLE, shuffled).notes())
    left = PEOPLE.with_columns(pl.col("age") // 10 * 10)
    assert "'id' is unchanged and different" in " ".join(measure(PEOPLE, left).notes())
    assert measure(PEOPLE, RELEASE.table).notes() == []


def test_groups_that_share_a_sensitive_value_are_noted():
    alike = PEOPLE.with_columns(ill=pl.lit("flu"))
    risk = protect(alike, 4, method="mdav", **ROLES).risk()
    assert "'ill'" in " ".join(risk.notes())


def test_two_reports_need_two_files(tmp_path):
    path = tmp_path / "r.html"
    with pytest.raises(ParameterError):
        RELEASE.save(tmp_path / "t.csv", report=path, public_report=path)
    assert not list(tmp_path.iterdir())


def shown(text: str) -> str:
    """Return text without the gaps that come from wrapping and aligning."""
    return "".join(text.split())


def columns_of(table: str) -> list[str]:
    """Return the columns of a printed table, each as one string without gaps."""
    lines = table.split("\n")
    header = next(line for line in lines if line.startswith("measure "))
    ends = [header.index("figure"), header.index("what it means"), None]
    starts = [0, *ends[:2]]
    rows = lines[lines.index(header) + 2 :]
    return [shown("".join(row[a:b] for row in rows)) for a, b in zip(starts, ends)]


def test_printing_shows_every_row():
    found = measure(PEOPLE, RELEASE.table, target="ill")
    for part in (found.risk, found.utility):
        rows = part.rows()
        assert len(rows) > 8
        assert str(part) == repr(part)
        printed = columns_of(str(part))
        page = html.unescape(part._repr_html_())
        for row in rows:
            for cell, column in zip(row[:3], printed):
                assert shown(cell) in column
                assert f">{cell}<" in page
        assert max(map(len, str(part).split("\n"))) <= 100
        assert str(part) in str(found)
        assert part._repr_html_() in found._repr_html_()


def test_printing_says_what_was_measured():
    left = PEOPLE.with_columns(pl.col("age") // 10 * 10).rename({"income": "<b>"})
    found = measure(PEOPLE.rename({"income": "<b>"}), left)
    assert str(found).startswith(f"Measured {N} records\n\nintruder knows  age\n")
    assert "Note:  Column 'id' is unchanged" in str(found)
    assert "&lt;b&gt;" in found._repr_html_()
    assert "<b>" not in found._repr_html_()


def test_every_column_is_scaled_once(monkeypatch):
    """However many measures need the mean and deviation of a column."""
    calls = []

    def counting(values, weights=None):
        calls.append(len(values))
        return scaling(values, weights)

    monkeypatch.setattr(sides, "scaling", counting)
    monkeypatch.setattr(sides.np, "sort", counted_sort := CountingSort())
    measure(PEOPLE, RELEASE.table, identifiers="id", target="age")
    assert len(calls) == 2 * 2  # age and income, before and after
    assert counted_sort.n == 2 * 2


class CountingSort:
    n = 0
    sort = staticmethod(np.sort)

    def __call__(self, *args, **options):
        if sys._getframe(1).f_code.co_filename == sides.__file__:
            self.n += 1
        return self.sort(*args, **options)


def test_roles_do_not_belong_to_columns():
    with pytest.raises(ParameterError, match="Remove the role"):
        measure(PEOPLE, RELEASE.table, columns={"age": {"role": "sensitive"}})


@pytest.mark.parametrize(("key", "value"), [("aggregate", "median"), ("resolution", "day")])
def test_options_that_no_figure_depends_on_are_refused(key, value):
    with pytest.raises(ParameterError, match=f"columns takes types, orders.*Remove the {key}"):
        measure(PEOPLE, RELEASE.table, columns={"age": {key: value}})


class TestWeights:
    """They are published, so they count as what an intruder wants to know, and may find."""

    WEIGHTED = PEOPLE.with_columns(w=RNG.uniform(1, 2, N), v=pl.Series([1.5] * N))

    def released(self, weights, folder=None):
        others = [name for name in ("w", "v") if name != weights]
        release = protect(self.WEIGHTED.drop(others), 4, method="mdav", weights=weights, **ROLES)
        if folder is not None:
            release.save(folder / "out.csv")
        return release

    @pytest.mark.parametrize("weights", ["w", "v"])
    def test_by_the_manifest_or_the_plan(self, weights, tmp_path):
        release = self.released(weights, tmp_path)
        original = tmp_path / "in.csv"
        self.WEIGHTED.select("id", "age", "income", "sex", "ill", weights).write_csv(original)
        for plan in (None, release.manifest.plan):
            found = measure(original, tmp_path / "out.csv", plan=plan)
            assert found.sensitive == ("ill", weights)
            assert found.assumed == ()
            assert found.weights == weights
            assert weights not in (*found.dropped, *found.quasi_identifiers)
            assert found.unique_columns == (("w",) if weights == "w" else ())
            is_noted = "The weights in 'w' are published" in " ".join(found.notes())
            assert is_noted == (weights == "w")
            attributes = found.risk.attributes.columns
            assert list(attributes) == ["ill", weights] == list(release.risk().attributes.columns)


def test_hints_name_the_argument_as_well():
    with pytest.raises(DataError, match=r"\(--key, or key= in Python\)"):
        measure(PEOPLE, RELEASE.table[:5])
    shuffled = RELEASE.table.sample(fraction=1, shuffle=True, seed=3)
    assert "(--key, or key= in Python)" in " ".join(measure(PEOPLE, shuffled).notes())


def test_notes_of_one_kind_are_one_sentence():
    n = 60
    table = pl.DataFrame(
        {"age": [20, 70] * (n // 2)} | {f"q{i}": [i, 9] * (n // 2) for i in range(5)}
    )
    released = table.with_columns(age=pl.Series([20.5, 70.5] * (n // 2)))
    notes = measure(table, released).notes()
    assert len(notes) == 1
    assert "'q0' in 2 groups (60 records), 'q1' in 2 groups" in notes[0]
    keys = table.with_columns(pl.Series("a", range(n)), pl.Series("b", range(n, 2 * n)))
    both = measure(keys, keys.with_columns(released["age"])).notes()
    assert sum("different in every record" in note for note in both) == 1
    assert "Columns 'a', 'b' are unchanged" in both[0]


class TestWhatAPlanSays:
    TABLE = pl.DataFrame(
        {
            "age, years": [20, 21, 40, 41, 60, 61, 80, 81],
            "net": [1, 2, 3, 4, 5, 6, 7, 8],
            "gross": [2, 3, 4, 5, 6, 7, 8, 9],
            "town": ["a"] * 4 + ["b"] * 4,
        }
    )
    PLAN = Plan(
        k=2,
        method="mdav",
        blocks=[["age, years"]],
        constraints=["net <= gross"],
        columns={
            **{n: {"role": "quasi-identifier"} for n in ("age, years", "net", "gross")},
            "town": {"role": "stratum"},
        },
    )

    def test_strata_blocks_and_constraints_are_reported(self):
        release = protect(self.TABLE, plan=self.PLAN)
        found = measure(self.TABLE, release.table, plan=self.PLAN)
        assert (found.strata, found.blocks) == (("town",), (("age, years",), ("net", "gross")))
        assert found.constraints == {"net <= gross": 0}
        facts = found.as_dict()
        assert (facts["strata"], facts["blocks"]) == (["town"], [["age, years"], ["net", "gross"]])
        assert facts["constraints"] == {"net <= gross": 0}
        shown = " ".join(repr(found).split())
        assert "intruder knows 'age, years', net, gross, town" in shown
        assert "blocks 'age, years'; net, gross (k is for each of them" in shown
        assert "satisfied net <= gross" in shown
        assert not [note for note in found.notes() if "constraint" in note]

    def test_a_violated_constraint_is_noted_first(self):
        broken = self.TABLE.with_columns(net=pl.Series([9, 9, 3, 4, 5, 6, 7, 8]))
        found = measure(self.TABLE, broken, plan=self.PLAN)
        assert found.constraints == {"net <= gross": 2}
        assert "A constraint is violated: net <= gross (2 records)." in found.notes()
        assert ("violated", "net <= gross (2 records)") in found.rows()

    def test_the_manifest_says_it_as_well(self, tmp_path):
        self.TABLE.write_csv(tmp_path / "in.csv")
        protect_file(tmp_path / "in.csv", tmp_path / "out.csv", self.PLAN)
        found = measure(tmp_path / "in.csv", tmp_path / "out.csv")
        assert (found.strata, len(found.blocks)) == (("town",), 2)
        assert found.constraints == {"net <= gross": 0}

    def test_without_any_of_them(self):
        found = measure(self.TABLE, self.TABLE)
        assert (found.strata, found.blocks, found.constraints) == ((), (), {})
        assert "blocks" not in dict(found.rows())
