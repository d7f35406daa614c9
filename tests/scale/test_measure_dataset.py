"""measure() of two folders says what it says of all their rows in two tables."""

import json
import re
from dataclasses import asdict, fields

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg
from microagg.core.errors import DataError, ParameterError
from microagg.measures.risk.linkage import distance_linkage
from microagg.measures.sampling import standard_error
from microagg.scale.checks import checking
from microagg.scale.measures import measuring
from microagg.scale.sources.drawing import drawn_rows
from microagg.scale.sources.listing import FILE_ROWS, find_files, list_files
from microagg.tables.matching import open_pair
from tests.scale.datasets import ROLES, people, read_files, write_files

CUTS = (700, 700, 1_500)


def flat(found, at=""):
    """All figures by where they are, but for times and where the manifest is."""
    if isinstance(found, dict):
        return {k: v for name, own in found.items() for k, v in flat(own, f"{at}/{name}").items()}
    if isinstance(found, (list, tuple)):
        return {k: v for n, own in enumerate(found) for k, v in flat(own, f"{at}/{n}").items()}
    return {} if at in ("/seconds", "/manifest") else {at: found}


def visits(n=2_400, seed=1):
    """Records with units, weights, missing values, dates and sensitive numbers."""
    rng = np.random.default_rng(seed)
    gaps = np.where(rng.random(n) < 0.1, None, rng.normal(size=n)).tolist()
    days = pl.Series(rng.integers(18_000, 19_500, n)).cast(pl.Int32).cast(pl.Date)
    return people(n, seed).with_columns(
        patient=pl.Series(rng.integers(0, n // 3, n)),
        w=pl.Series(rng.uniform(1, 5, n).round(1)),
        pay=pl.Series(gaps),
        seen=days,
        cost=pl.Series(rng.integers(0, 50, n)),
        bill=pl.Series(rng.lognormal(size=n)),
    )


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measured")
    source = write_files(visits(), folder / "in", CUTS)
    manifest = microagg.protect_dataset(
        source,
        folder / "out",
        k=4,
        unit="patient",
        drop="id",
        weights="w",
        missing="value",
        effort="fast",
        quasi_identifiers=["job", "seen"],
        sensitive=["disease", "cost", "bill"],
    )
    return source, folder / "out", manifest.plan


@pytest.fixture(scope="module")
def tables(done):
    """What all rows in two tables say."""
    source, target, plan = done
    return microagg.measure(read_files(source), read_files(target), plan=plan)


@pytest.mark.slow
def test_up_to_the_size_of_the_sample_all_figures_are_those_of_tables(done, tables):
    whole = microagg.measure(*done[:2])
    assert flat(whole.as_dict()) == flat(tables.as_dict())
    assert whole.risk.rows() == tables.risk.rows()
    assert whole.utility.rows() == tables.utility.rows()


@pytest.fixture(scope="module")
def sampled(done):
    """The same with a sample of 800."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measuring, "MOST_RECORDS", 800)
        patch.setattr(checking, "BUCKET_ROWS", 300)
        return microagg.measure(*done[:2])


class TestBeyondTheSample:
    @pytest.mark.parametrize("name", ["classes", "attributes", "individual"])
    def test_classes_are_those_of_all_records(self, sampled, tables, name):
        one, other = (flat(asdict(getattr(own.risk, name))) for own in (sampled, tables))
        assert one == pytest.approx(other)

    def test_so_are_units(self, sampled, tables):
        one, other = sampled.risk.units, tables.risk.units
        assert flat(asdict(one.classes)) == pytest.approx(flat(asdict(other.classes)))
        assert (one.n_units, one.records_without) == (other.n_units, other.records_without)
        assert one.linkage is None
        assert [own.as_dict() for own in sampled.requirements] == [
            own.as_dict() for own in tables.requirements
        ]

    @pytest.mark.parametrize("name", ["loss", "il1s", "eigenvalues"])
    def test_sums_are_those_of_all_records(self, sampled, tables, name):
        one, other = (flat(asdict(getattr(own.utility, name))) for own in (sampled, tables))
        assert one == pytest.approx(other)

    def test_so_are_means_deviations_and_correlations(self, sampled, tables):
        one, other = sampled.utility.moments, tables.utility.moments
        assert flat(asdict(one.pearson)) == pytest.approx(flat(asdict(other.pearson)))
        for name, own in one.columns.items():
            for figure, value in asdict(own).items():
                if "quantile" not in figure:
                    assert value == pytest.approx(getattr(other.columns[name], figure)), figure

    def test_so_are_shares_of_categories_and_of_missing_values(self, sampled, tables):
        one, other = sampled.utility.distributions, tables.utility.distributions
        assert one.largest_total_variation == pytest.approx(other.largest_total_variation)
        for name, own in one.columns.items():
            assert own.missing_before == other.columns[name].missing_before
            assert own.missing_after == other.columns[name].missing_after

    def test_records_are_linked_with_all_released_ones(self, done, sampled):
        source, target, plan = done
        rows = positions(target, 800)
        names = [*tuple(sampled.quasi_identifiers)]
        pair = open_pair(
            read_files(source).select(names), read_files(target).select(names),
            quasi_identifiers=names, column_options={},
        )  # fmt: skip
        linked = _linked_by_hand(pair, rows)
        found = sampled.risk.linkage
        assert (found.n_sampled, found.n_records) == (800, 2_400)
        assert found.linked[1] == pytest.approx(linked.mean(), abs=0.01)  # by the sample's units
        assert found.standard_errors[1] == pytest.approx(standard_error(linked, 2_400), rel=0.1)
        assert plan.k == 4
        assert found.linked[1] <= 0.25

    def test_classes_are_whole_in_the_pool_of_other_attacks(self, sampled):
        found = sampled.risk.probabilistic
        assert 1_500 < found.n_pool < 2_400
        assert found.linked[1] <= 0.25
        (row,) = [row for row in sampled.risk.rows() if row.measure == "probabilistic linkage"]
        assert f"searches {found.n_pool:,} released records" in row.meaning

    def test_every_other_figure_says_where_it_comes_from(self, sampled):
        said = "rom a sample of 800 of 2,400 records"
        exact = {
            "smallest group", "unique records", "fewest units", "unique units",
            "largest share of a unit", "expected re-identifications",
            "the same, before protection", "highest individual risk", "knowing the method",
            "loss of released values", "IL1s", "eigenvalues", "means (weighted)",
            "variances (weighted)", "correlations (weighted)", "total variation (weighted)",
        }  # fmt: skip
        rows = [*sampled.risk.rows(), *sampled.utility.rows()]
        classes = [row for row in rows if "one value" in row.measure or "distance from" in row[0]]
        for row in rows:
            if row not in classes:
                assert (said in row.figure + row.meaning) != (row.measure in exact), row.measure
        assert sampled.as_dict()["risk"]["sample"]["n_sampled"] == 800

    @pytest.mark.parametrize(
        ("measures", "of_all"),
        [
            ("risk", {"classes", "linkage", "attributes", "individual", "units"}),
            ("utility", {"loss", "il1s", "eigenvalues", "moments"}),
        ],
    )
    def test_whatever_is_not_added_up_counts_as_sampled(self, sampled, measures, of_all):
        """A new measure as well."""
        found = getattr(sampled, measures)
        every = {own.name for own in fields(found)} - {"sample"}
        assert {*found.sample.fields} == every - of_all

    def test_the_sample_is_the_same_for_any_files_read_alike(self, done):
        listing = list_files(find_files(done[1]))
        few, more = drawn_rows(listing, 300), drawn_rows(listing, 800)
        assert len(few) == 300
        assert set(few) < set(more)
        assert len(drawn_rows(listing, 10_000)) == 2_400


def _linked_by_hand(pair, rows):
    """Link some records with all released ones, comparing every pair."""
    before, after = pair.points_before(), pair.points_after()
    chances = []
    for row in rows:
        apart = np.square(before.numbers[row] - after.numbers).sum(axis=1)
        apart += ((before.codes[row] != after.codes) * pair.code_distances).sum(axis=1)
        nearer, equal = (apart < apart[row]).sum(), (apart == apart[row]).sum()
        chances.append(min(1.0, max(0.0, (1 - nearer) / equal)))
    return np.array(chances)


def positions(target, most):
    """Return where the sampled rows are in all files together."""
    listing = list_files(find_files(target))
    firsts = np.cumsum([0, *(file.n_rows for file in listing.files)])
    rows = drawn_rows(listing, most)
    return firsts[rows // FILE_ROWS] + rows % FILE_ROWS


def test_the_whole_as_a_sample_is_linked_as_a_table_is(tmp_path):
    from microagg.measures.subject import KnownColumns
    from microagg.scale.measures.bases import Bases
    from microagg.scale.measures.linking import link
    from microagg.scale.measures.pairing import Paired, open_sample
    from microagg.scale.storage.work import WorkFolder
    from microagg.scale.tasks.passes import Passes

    before = people(900).select("age", "income", "job")
    after = microagg.protect(before, 5, quasi_identifiers="job", method="mdav").table
    source = write_files(before, tmp_path / "in", (300,), rows=100)
    target = write_files(after, tmp_path / "out", (300,), rows=70)
    (tmp_path / "work").mkdir()
    passes = Passes(WorkFolder(tmp_path / "work"))
    known = KnownColumns.given(["age", "income", "job"], (), (), None)
    listings = [list_files(find_files(own)) for own in (source, target)]
    paired, pair = open_sample(
        passes, Paired.of(*listings, known, None, (False, False), (".", "."), 10_000)
    )
    found = link(passes, paired, pair, Bases.of(pair, {}), frozenset())
    assert flat(asdict(found)) == pytest.approx(flat(asdict(distance_linkage(pair))), abs=1e-3)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.integers(30, 300), st.lists(st.integers(0, 300), max_size=3), st.integers(0, 10_000))
def test_any_table_in_any_files(tmp_path_factory, n, cuts, seed):
    rng = np.random.default_rng(seed)
    before = pl.DataFrame(
        {
            "age": rng.integers(0, 30, n),
            "size": np.where(rng.random(n) < 0.2, None, rng.normal(size=n)).tolist(),
            "job": rng.choice(["a", "b", "c"], n),
            "ill": rng.choice(["x", "y", "z"], n),
        }
    )
    after = before.with_columns(
        age=pl.Series(rng.integers(0, 3, n) * 10),
        size=pl.Series(np.where(rng.random(n) < 0.2, None, rng.integers(-1, 2, n) / 2).tolist()),
        job=pl.Series(rng.choice(["a", "b"], n)),
    )
    folder = tmp_path_factory.mktemp("any")
    ends = sorted(min(cut, n) for cut in cuts)
    asked = {"quasi_identifiers": ["age", "size", "job"], "sensitive": "ill"}
    asked["columns"] = {"age": {"type": "integer"}, "job": {"type": "nominal"}}
    paths = [
        write_files(own, folder / name, ends, rows=40)
        for name, own in (("in", before), ("out", after))
    ]
    tables = microagg.measure(before, after, **asked)
    assert flat(microagg.measure(*paths, **asked).as_dict()) == flat(tables.as_dict())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measuring, "MOST_RECORDS", n // 2)
        patch.setattr(checking, "BUCKET_ROWS", 30)
        part = microagg.measure(*paths, **asked)
    for room, name in (("risk", "classes"), ("risk", "attributes"), ("utility", "loss")):
        one, other = (flat(asdict(getattr(getattr(m, room), name))) for m in (part, tables))
        assert one == pytest.approx(other, abs=1e-9)


def test_csv_files(tmp_path):
    table = people(600).drop("id")
    after = table.with_columns(age=pl.col("age") // 10 * 10, job=pl.lit("cook"))
    for name, own in (("in", table), ("out", after)):
        (tmp_path / name).mkdir()
        for at, start in enumerate((0, 400)):
            part = own.slice(start, 400 if not at else 200)
            part.write_csv(tmp_path / name / f"{at}.csv", separator=";", decimal_comma=True)
        own.write_csv(tmp_path / f"{name}.csv", separator=";", decimal_comma=True)
    whole = microagg.measure(tmp_path / "in", tmp_path / "out", sensitive="disease")
    alone = microagg.measure(tmp_path / "in.csv", tmp_path / "out.csv", sensitive="disease")
    assert flat(whole.as_dict()) == flat(alone.as_dict())


class TestRefusals:
    @pytest.fixture
    def folders(self, tmp_path):
        table = people(60).drop("id")
        return [write_files(table, tmp_path / name, (20,)) for name in ("in", "out")]

    def test_other_rows(self, folders, tmp_path):
        other = write_files(people(60), tmp_path / "other", (30,))
        with pytest.raises(DataError, match="do not have the names and rows"):
            microagg.measure(folders[0], other)

    def test_a_key(self, folders):
        with pytest.raises(ParameterError, match="not by a key"):
            microagg.measure(*folders, key="age")

    def test_a_folder_and_a_table(self, folders):
        with pytest.raises(ParameterError, match="must both be folders"):
            microagg.measure(folders[0], people(60))

    def test_the_same_folder(self, folders):
        with pytest.raises(ParameterError, match="both are the same one"):
            microagg.measure(folders[0], folders[0])

    def test_an_unknown_column(self, folders):
        with pytest.raises(ParameterError, match="no column 'aged'"):
            microagg.measure(*folders, quasi_identifiers=["aged"])


def test_the_command(tmp_path, monkeypatch, capsys):
    from microagg.cli.main import main

    monkeypatch.chdir(tmp_path)
    write_files(people(600), tmp_path / "in", (200,))
    microagg.protect_dataset("in", "out", k=3, effort="fast", **ROLES)
    with pytest.raises(SystemExit) as ended:
        main(["measure", "in/", "out/", "--memory", "1GB", "--json"])
    assert ended.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n_records"] == 600
    assert found["min_group"] >= 3


def test_the_command_says_where_the_manifest_is(tmp_path, monkeypatch, capsys):
    from microagg.cli.main import main

    monkeypatch.chdir(tmp_path)
    write_files(people(60).drop("id", "job", "disease"), tmp_path / "in")
    with pytest.raises(SystemExit) as ended:
        main(["protect", "in/", "-o", "out/", "-k", "3", "--method", "mdav"])
    assert ended.value.code == 0
    assert re.search(r"manifest +out\.manifest\.json\n", capsys.readouterr().out)


@pytest.mark.parametrize("command", [["verify", "nowhere/"], ["measure", ".", "nowhere"]])
def test_a_folder_that_is_not_there(tmp_path, monkeypatch, capsys, command):
    from microagg.cli.main import main

    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == 2
    assert f"{command[-1]!r} does not exist" in capsys.readouterr().err


def test_strata_and_constraints_of_the_plan_or_the_manifest(tmp_path):
    (tmp_path / "in").mkdir()
    for at in range(2):
        table = pl.DataFrame({"net": range(60), "gross": range(1, 61), "town": ["a", "b"] * 30})
        table.write_csv(tmp_path / "in" / f"{at}.csv")
    columns = {"net": "quasi-identifier", "gross": "quasi-identifier", "town": "stratum"}
    plan = microagg.Plan(
        k=3,
        method="mdav",
        constraints=["net <= gross"],
        columns={name: {"role": role} for name, role in columns.items()},
    )
    microagg.protect_dataset(tmp_path / "in", tmp_path / "out", plan=plan)
    for asked in (None, plan):
        found = microagg.measure(tmp_path / "in", tmp_path / "out", plan=asked)
        assert (found.strata, found.blocks) == (("town",), ())
        assert found.constraints == {"net <= gross": 0}
