"""Releases of hybrid records: what they keep, what they do not promise, and what is refused."""

import json
import re
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microagg
from microagg import Manifest, Plan, compare, measure, protect, sweep, verify
from microagg.cli.main import main
from microagg.core.errors import DataError, GuaranteeError, ParameterError, PrivacyWarning
from microagg.plans.manifest_facts import Promise
from microagg.release import released

RNG = np.random.default_rng(5)
N = 90
NET, TAX = RNG.lognormal(7, 1, N), RNG.lognormal(3, 1, N)
TABLE = pl.DataFrame(
    {
        "net": NET,
        "tax": TAX,
        "gross": NET + TAX,
        "age": RNG.integers(18, 90, N),
        "region": ["north", "south"] * (N // 2),
        "sex": [("f", "m")[i] for i in RNG.integers(0, 2, N)],
    }
)
MONEY = ["net", "tax", "gross"]
FLOATS = TABLE.select(MONEY)
NUMBERS = TABLE.select("net", "age")

pytestmark = pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
OF_STUDY = {compare: {"methods": "mdav"}}


def hybrid(table=FLOATS, k=9, **options):
    given = {"method": "mdav", "hybrid": True, "random_state": 3, **options}
    return protect(table, k, **given)


def of_groups(table, labels, names):
    """The means and covariances of every group, by pandas."""
    frame = pl.DataFrame(table).select(names).to_pandas().astype(float)
    groups = frame.groupby(np.asarray(labels))
    return groups.mean().to_numpy(), groups.cov().to_numpy()


def assert_kept(before, release, names, labels=None):
    labels = release.labels if labels is None else labels
    for own, new in zip(
        of_groups(before, labels, names), of_groups(release.table, labels, names), strict=True
    ):
        assert np.allclose(own, new, rtol=1e-9, atol=1e-9 * np.abs(own).max())


class TestWhatIsReleased:
    def test_means_and_covariances_of_groups_and_of_the_table(self):
        release = hybrid()
        assert_kept(FLOATS, release, MONEY)
        assert np.allclose(
            np.cov(release.table.to_numpy().T), np.cov(FLOATS.to_numpy().T), rtol=1e-9
        )
        assert not np.isclose(release.table.to_numpy(), FLOATS.to_numpy()).all(axis=1).any()

    def test_the_groups_are_those_of_the_method(self):
        plain = protect(FLOATS, 9, method="mdav")
        assert (hybrid().labels == plain.labels).all()
        assert hybrid().grouping_loss == plain.grouping_loss
        assert hybrid().lower_bound == plain.lower_bound

    @pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, pa.table])
    def test_every_kind_of_table(self, kind):
        table = TABLE.select(*MONEY, "age", "region")
        given = kind({name: table[name].to_list() for name in table.columns})
        release = hybrid(given, sensitive="region")
        expected = hybrid(table, sensitive="region").table
        assert type(release.table) is type(given)
        assert pl.DataFrame(release.table).equals(expected)
        assert expected.schema == table.schema

    def test_narrow_floats(self):
        narrow = FLOATS.cast(pl.Float32)
        release = hybrid(narrow)
        assert release.table.schema == narrow.schema
        assert release.manifest.hybrid.group_mean_moved < 1e-6

    def test_whole_numbers_are_rounded_and_the_manifest_says_how_far(self):
        release = hybrid(NUMBERS)
        assert release.table.schema == NUMBERS.schema
        found, sds = release.manifest.hybrid, NUMBERS.to_pandas().std().to_numpy()
        assert found.rounded == ("age",)
        (mean, cov), (new_mean, new_cov) = (
            of_groups(own, release.labels, NUMBERS.columns) for own in (NUMBERS, release.table)
        )
        assert found.group_mean_moved == pytest.approx(np.abs((new_mean - mean) / sds).max())
        moved = (new_cov - cov).reshape(-1, 2, 2) / np.outer(sds, sds)
        assert found.group_covariance_moved == pytest.approx(np.abs(moved).max())
        ages = release.table["age"].mean() - NUMBERS["age"].mean()
        assert found.table_mean_moved == pytest.approx(abs(ages) / sds[1])
        assert 0 < found.table_mean_moved <= found.group_mean_moved < 0.5 / sds[1]

    def test_without_rounding_nothing_moves(self):
        found = hybrid().manifest.hybrid
        assert found.rounded == ()
        assert max(found.group_mean_moved, found.group_covariance_moved) < 1e-12

    def test_the_loss_of_the_values_is_not_that_of_the_groups(self):
        release = hybrid(random_state=0)
        before = FLOATS.to_pandas()
        apart = ((release.table.to_pandas() - before) / before.std()).to_numpy()
        loss = 100.0 * np.square(apart).sum() / (N - 1) / 3
        assert release.information_loss == pytest.approx(loss)
        losses = [hybrid(random_state=n).information_loss for n in range(20)]
        assert 1.6 < np.mean(losses) / release.grouping_loss < 2.4

    @pytest.mark.parametrize("scale", ["rank", "log", "robust", "none"])
    def test_other_scales_only_change_the_groups(self, scale):
        release = hybrid(scale=scale)
        assert_kept(FLOATS, release, MONEY)
        assert release.information_loss > 0

    def test_in_strata(self):
        table = TABLE.select(*MONEY, "region")
        release = hybrid(table, strata="region")
        assert_kept(table, release, MONEY)
        for region in ("north", "south"):
            own, new = (t.filter(pl.col("region") == region) for t in (table, release.table))
            assert np.allclose(np.cov(own[:, :3].to_numpy().T), np.cov(new[:, :3].to_numpy().T))

    def test_in_blocks(self):
        """Within blocks everything is kept; k counts against the columns of each."""
        release = hybrid(FLOATS, 5, blocks=[["net", "tax"]])
        for at, names in enumerate((["net", "tax"], ["gross"])):
            assert_kept(FLOATS, release, names, release.labels[:, at])
        assert release.manifest.promise is Promise.HYBRID

    def test_equalities_hold(self):
        release = hybrid(constraints=["net + tax = gross"])
        table = release.table
        assert np.allclose(table["net"] + table["tax"], table["gross"], rtol=1e-12)
        found = release.manifest.constraints
        assert found.records_in_violation == {"net + tax = gross": 0}
        assert found.groups_moved == 0

    def test_equalities_in_narrow_floats_hold(self):
        narrow = FLOATS.cast(pl.Float32).with_columns(gross=pl.col("net") + pl.col("tax"))
        narrow = narrow.with_columns(pl.col("gross").cast(pl.Float32))
        assert hybrid(narrow, constraints=["net + tax = gross"]).manifest.hybrid is not None


class TestTheSeed:
    def test_it_decides_also_with_a_deterministic_method(self):
        first, same, other = (hybrid(random_state=seed).table for seed in (1, 1, 2))
        assert first.equals(same)
        assert not first.equals(other)

    @pytest.mark.parametrize("method", ["mdav", "reporder"])
    def test_one_is_drawn_and_recorded(self, method):
        release = hybrid(method=method, random_state=None)
        done = release.manifest
        assert done.random_state is not None
        assert done.plan.random_state == done.random_state
        assert protect(FLOATS, plan=done.plan).table.equals(release.table)
        assert "hybrid=True" in done.command


class TestWhatIsSaid:
    def test_the_warning(self):
        with pytest.warns(PrivacyWarning, match="not k-anonymity: each has values of its own"):
            hybrid()

    def test_blocks_do_not_claim_k(self):
        with pytest.warns(PrivacyWarning) as caught:
            hybrid(FLOATS, 5, blocks=[["net", "tax"]])
        assert not [own for own in caught if "holds within each" in str(own.message)]

    def test_the_manifest(self, tmp_path):
        release = hybrid()
        done = release.manifest
        assert done.promise == "none: hybrid records keep means and covariances, not k-anonymity"
        assert not done.verified
        assert done.smallest_class == 1
        assert "no k-anonymity (hybrid records)" in repr(release)
        path = release.save(tmp_path / "h.csv")
        read = Manifest.load(path.with_name("h.csv.manifest.json"))
        assert (read.hybrid, read.promise) == (done.hybrid, done.promise)
        assert json.loads(str(done))["hybrid"]["rounded"] == []
        assert "hybrid" not in protect(FLOATS, 9, method="mdav").manifest.as_dict()

    def test_verify_never_says_yes(self, tmp_path):
        path = hybrid().save(tmp_path / "h.csv")
        for k in (None, 1, 2, 9):
            found = verify(path, k)
            assert not found.satisfied
            assert found.verdict.startswith("No: ")
            assert "k was not promised" in found.verdict

    def test_verify_says_no_even_if_all_records_look_alike(self, tmp_path):
        """What rounding happens to make equal was not promised to be."""
        alike = pl.DataFrame({"a": [1] * 20})
        path = hybrid(alike).save(tmp_path / "h.csv")
        assert not verify(path)
        assert verify(path).largest_k == 20
        assert not verify(alike, plan=Plan(k=9, hybrid=True))

    def test_verify_checks_equalities(self, tmp_path):
        path = hybrid(constraints=["net + tax = gross"]).save(tmp_path / "h.csv")
        assert verify(path).violations == {"net + tax = gross": 0}

    def test_measure_shows_what_linkage_is_left(self, tmp_path):
        FLOATS.write_csv(tmp_path / "t.csv")
        release = hybrid()
        found = measure(tmp_path / "t.csv", release.save(tmp_path / "h.csv"))
        assert found.risk.linkage == release.risk().linkage
        assert 0 < found.risk.linkage.linked[1] < 0.5
        assert found.risk.informed.drawn
        assert "rules nothing out with certainty" in str([*found.risk.rows()])

    @pytest.mark.parametrize("public", [False, True])
    def test_the_report(self, public, tmp_path):
        release = hybrid(NUMBERS)
        text = release.report(tmp_path / "r.html", public=public).read_text("utf-8")
        assert "No guarantee of k-anonymity: hybrid records" in text
        assert "This is not k-anonymity: each record has values of its own" in text
        assert "a synthetic value" in text
        (shown,) = re.findall(r"<dd>at most ([\d.]+) %</dd>", text)
        # A few records dominate "net": in public, the loss is of the other column only.
        worst = release.manifest.worst_columns
        assert 0 <= float(shown) - (worst["age"] if public else release.information_loss) <= 5
        assert "unavoidable" not in text
        for claim in ("mean of the group", "the whole group shares", "equally well"):
            assert claim not in text

    def test_the_command_line(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        NUMBERS.write_csv("t.csv")
        given = ["-k", "5", "--method", "mdav", "--hybrid", "--seed", "1", "-o", "h.csv"]
        with pytest.raises(SystemExit) as leaving:
            main(["protect", "t.csv", *given])
        assert leaving.value.code == 0
        shown = capsys.readouterr()
        assert "90 records became hybrid records at k = 5 with mdav" in shown.out
        assert str(Promise.HYBRID) in " ".join(shown.out.split())
        assert "rounding whole numbers: means moved by at most" in " ".join(shown.out.split())
        assert "not k-anonymity" in shown.err
        for claim in ("Protected", "stands for at least", "not used"):
            assert claim not in shown.out
        assert "--hybrid" in Manifest.load("h.csv.manifest.json").command
        with pytest.raises(SystemExit) as leaving:
            main(["verify", "h.csv"])
        assert leaving.value.code == GuaranteeError.exit_code
        assert capsys.readouterr().out.startswith("No: ")

    def test_in_a_plan_file(self, tmp_path):
        path = Path(tmp_path / "p.toml")
        path.write_text('k = 9\nmethod = "mdav"\nhybrid = true\nrandom_state = 3\n')
        assert protect(FLOATS, plan=path).table.equals(hybrid().table)

    @pytest.mark.parametrize("study", [compare, sweep])
    def test_studies_are_about_groups(self, study):
        plan = Plan(k=9, hybrid=True, effort="fast", random_state=1)
        assert "hybrid" in study(FLOATS, [9], plan=plan, **OF_STUDY.get(study, {})).setting.unused

    def test_compare_takes_methods_that_draw(self):
        found = compare(FLOATS, [9], ["mdav", "fcm"], plan=Plan(k=9, hybrid=True, random_state=1))
        assert [row.error for row in found] == [None, None]


REFUSED = {
    "a small k": ({"k": 6}, "needs k of at least 7, twice the number of quasi-id.*got 6"),
    "a small k for a block": (
        {"k": 4, "blocks": [["tax"], ["net", "gross"]]},
        "at least 5, .*in the block of 'net'",
    ),
    "k = 1": ({"k": 1}, "at least 7"),
    "categories": (
        {"table": TABLE.drop("region"), "quasi_identifiers": "sex"},
        "'sex' is of the type 'nominal'",
    ),
    "ordered categories": (
        {"table": NUMBERS, "columns": {"age": {"type": "ordinal"}}},
        "'age' is of the type 'ordinal'",
    ),
    "booleans": (
        {"table": NUMBERS.with_columns(b=pl.col("age") > 40), "quasi_identifiers": "b"},
        "'b' is of the type 'boolean'",
    ),
    "dates": (
        {"table": NUMBERS.with_columns(d=date(2020, 1, 1)), "quasi_identifiers": "d"},
        "'d' is of the type 'date'",
    ),
    "medians": ({"columns": {"tax": {"aggregate": "median"}}}, "'tax' has the aggregate 'median'"),
    "weights": ({"weights": "tax"}, "hybrid .* does not work with weights"),
    "a unit": ({"table": TABLE.drop("sex"), "unit": "region"}, "does not work with a unit"),
    "l-diversity": (
        {"table": TABLE.drop("sex"), "sensitive": "region", "l_diversity": {"region": 2}},
        "does not work with requirements on groups",
    ),
    "p per cent": ({"p_percent": {"net": 10}}, "does not work with requirements on groups"),
    "imputation": ({"missing": "impute"}, "does not work with missing values"),
    "margins": ({"keep_margins": True}, "does not work with keep_margins"),
    "a method that draws": ({"method": "fcm"}, "does not work with the method 'fcm'"),
    "an inequality": (
        {"constraints": ["net + tax = gross", "tax >= 0"]},
        "constraint 'tax >= 0': hybrid records .* keep equalities, not inequalities",
    ),
    "an equality of whole numbers in floats": (
        {"table": NUMBERS.cast(pl.Float64), "constraints": ["net = 2*age"]},
        r"'age' has whole numbers, .* Use the type continuous \(--type age=continuous\)",
    ),
    "an equality of whole numbers": (
        {"table": NUMBERS, "constraints": ["net = 2*age"]},
        r"constraint 'net = 2\*age': 'age' has whole numbers",
    ),
}


ADVICE = ("Use the type", "Leave out", "Raise k", "Remove", "Give it another role", "Convert")


class TestRefusals:
    @pytest.mark.parametrize("case", REFUSED)
    def test_one_sentence_that_says_what_to_do(self, case, monkeypatch):
        given, message = REFUSED[case]
        monkeypatch.setattr("microagg.release.protect.group", lambda *_: pytest.fail("too late"))
        with pytest.raises(ParameterError, match=message) as error:
            hybrid(**given)
        assert str(error.value).partition(". ")[2].startswith(ADVICE) or "Raise k" in str(
            error.value
        )

    def test_missing_values(self):
        holes = FLOATS.with_columns(tax=pl.when(pl.col("tax") > 30).then("tax"))
        with pytest.raises(
            DataError, match=r"missing in 'tax' .* hybrid records .* need all"
        ) as err:
            hybrid(holes)
        assert "--missing" not in str(err.value)

    def test_an_equality_that_records_violate(self):
        with pytest.raises(DataError, match="'net = gross' is violated by 90 records: hybrid"):
            hybrid(constraints=["net = gross"])

    def test_whole_numbers_beyond_floats(self):
        with pytest.raises(DataError, match="'age' are too large for hybrid records"):
            hybrid(NUMBERS.with_columns(pl.col("age") + 2**60))

    def test_values_that_do_not_fit_the_type(self):
        narrow = pl.DataFrame({"a": np.r_[np.zeros(45), np.full(45, 255)].astype(np.uint8)})
        with pytest.raises(DataError, match=r"do not fit the type of 'a' .uint8.. Convert"):
            hybrid(narrow, 90)

    def test_numbers_beyond_floats(self):
        far = pl.DataFrame({"a": np.r_[np.full(9, 1.7e308), [-1.7e308]]})
        with pytest.raises(DataError, match=r"do not fit the type of 'a' .float64."):
            hybrid(far, 10, random_state=1)

    def test_unit_rows_is_accepted(self):
        table = TABLE.select(*MONEY, "region")
        release = hybrid(table, identifiers="region", unit="rows")
        assert release.table.columns == MONEY


@pytest.mark.parametrize("spoil", [lambda X: X * 1.001, lambda X: X[::-1], lambda X: X * 0 + 1])
def test_nothing_is_released_unless_the_finished_table_keeps_them(spoil, monkeypatch):
    real = released.hybrid_records
    monkeypatch.setattr(released, "hybrid_records", lambda *given: spoil(real(*given)))
    with pytest.raises(GuaranteeError, match=r"means or covariances .* nothing was released"):
        hybrid()


def test_auto():
    release = microagg.protect(FLOATS, 9, hybrid=True, effort="fast", random_state=0)
    assert_kept(FLOATS, release, MONEY)
