"""The manifest: what was done, as it is written to a file and read from it."""

import json
import shlex
from pathlib import Path

import pytest

from microagg import Manifest, Plan
from microagg.core.errors import DataError, MicroaggError, ParameterError
from microagg.plans.manifest import SCHEMA_VERSION
from microagg.plans.manifest_facts import Promise
from tests.manifests import manifest

KEPT = Path(__file__).parent / "manifests"
FILES = sorted(KEPT.glob("*/*.json"))
# What has another value each time, or in another version of this or another library.
CHANGING = {"schema_version", "microagg_version", "libraries", "output", "seconds", "created"}


def plain(value):
    return list(value) if isinstance(value, tuple) else value


def ids(path):
    return f"{path.parent.name}-{path.stem}"


@pytest.fixture
def written(tmp_path):
    """Write what is given, and return the path."""

    def write(content):
        path = tmp_path / "x.manifest.json"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


def test_files_of_every_version_are_kept():
    assert {path.parent.name for path in FILES} == {f"v{n + 1}" for n in range(SCHEMA_VERSION)}


@pytest.mark.parametrize("path", FILES, ids=ids)
class TestKeptFiles:
    def test_all_that_a_file_says_is_read(self, path):
        said, found = json.loads(path.read_text("utf-8")), Manifest.load(path).as_dict()
        assert found.pop("schema_version") == SCHEMA_VERSION
        own_version = said.pop("schema_version", 1)
        assert f"v{own_version}" == path.parent.name
        if own_version < 4:  # it was the loss of the groups
            loss = said.pop("information_loss")
            assert found.pop("grouping_loss") == loss
            assert found.pop("information_loss") in (None, loss)
        if "categories" in found.keys() - said.keys():  # then it was not the default
            said["plan"].setdefault("valid_combinations", False)
            chosen = found.pop("categories")
            assert chosen["valid_combinations"] == said["plan"]["valid_combinations"]
        plans = [Plan.of(**each.pop("plan")) for each in (said, found)]
        assert plans[0] == plans[1]
        later = {name: found.pop(name) for name in found.keys() - said.keys()}
        assert found == said
        assert own_version < SCHEMA_VERSION or not later
        fields = Manifest.model_fields
        assert later == {name: plain(fields[name].default) for name in later}

    def test_round_trip(self, path, written):
        found = Manifest.load(path)
        again = Manifest.load(written(found.as_dict()))
        assert again == found
        assert again.as_dict() == found.as_dict()

    def test_its_plan_can_be_used(self, path):
        found = Manifest.load(path)
        assert isinstance(found.plan, Plan)
        assert found.plan.k == found.k
        assert found.plan.method == found.method
        assert found.plan.random_state == found.random_state
        assert set(found.plan.columns) <= {
            *found.quasi_identifiers,
            *found.dropped,
            *found.identifiers,
            *found.unchanged,
            *found.strata,
        }

    def test_its_parts_have_names(self, path):
        found = Manifest.load(path)
        assert isinstance(found.promise, Promise)
        assert found.columns.keys() == {*found.quasi_identifiers}
        assert found.verified == found.promise.is_verified
        assert found.output.file.startswith(path.stem)
        assert (found.constraints is None) == (not found.plan.constraints)
        assert (found.draw is None) == (found.method != "fcm")
        assert (found.strata_found is None) == (not found.strata)
        assert found.unit == found.plan.unit_column
        assert (found.units is None) == (found.unit is None)
        on_groups = len(found.plan.requirements) - 1 - found.plan.hybrid
        assert len(found.requirements) == max(0, on_groups)


@pytest.mark.parametrize("name", sorted(path.name for path in FILES if path.parent.name == "v1"))
def test_both_versions_describe_the_same_releases(name):
    """They are of the same tables and calls."""
    one, two = (Manifest.load(KEPT / version / name).as_dict() for version in ("v1", "v2"))
    if one["weights"] and one["constraints"]:
        for each in (one, two):  # its unit was that of the records without their weights
            assert each["constraints"].pop("added_information_loss") < 1e-6
    if not one["plan"].get("keep_key"):
        assert one["output"]["sha256"] == two["output"]["sha256"]
    words = [sorted(shlex.split(each.pop("command"))) for each in (one, two)]
    assert words[0] == words[1]
    for key in one.keys() - CHANGING:
        assert one[key] == two[key], key
    assert one.keys() == two.keys()


OLD = json.loads((KEPT / "v3" / "rows.json").read_text("utf-8"))
MEANS = {"type": "continuous", "aggregate": "mean", "weight": 1.0, "missing": 0}
STORED = {**MEANS, "stored": "Float64"}


@pytest.mark.parametrize(
    ("changes", "is_known"),
    [
        ({"columns": {"age": STORED, "cost": STORED}}, True),
        ({"columns": {"age": STORED, "cost": STORED}, "scale": "rank"}, False),
        ({"columns": {"age": STORED, "cost": MEANS}}, False),  # it may have been rounded
        ({"columns": {"age": STORED, "cost": {**STORED, "stored": "Int64"}}}, False),
        ({"columns": {"age": STORED, "cost": {**STORED, "aggregate": "median"}}}, False),
        ({"columns": {"age": STORED, "cost": {**STORED, "type": "nominal"}}}, False),
    ],
)
def test_earlier_losses_are_those_of_groups(changes, is_known, written):
    """They are those of released values only where means are known to be released as they are."""
    found = Manifest.load(written({**OLD, **changes}))
    assert found.grouping_loss == OLD["information_loss"]
    assert found.information_loss == (OLD["information_loss"] if is_known else None)


def test_earlier_hybrid_releases_say_what_their_records_lose(written):
    moved = ("group_mean", "group_covariance", "table_mean", "table_covariance")
    hybrid = {"rounded": [], "information_loss": 40.5, **{f"{name}_moved": 0.0 for name in moved}}
    found = Manifest.load(written({**OLD, "hybrid": hybrid}))
    assert (found.information_loss, found.grouping_loss) == (40.5, OLD["information_loss"])
    found = Manifest.load(written({**OLD, "hybrid": hybrid, "scale": "rank"}))
    assert found.information_loss is None


def test_losses_and_bounds_are_kept():
    found = {path.stem: Manifest.load(path) for path in FILES if path.parent.name == "v4"}
    plain = found["plain-means"]
    assert plain.information_loss == pytest.approx(plain.grouping_loss)
    for name in ("categories", "missing", "constraints", "hybrid", "weights"):
        assert found[name].information_loss > found[name].grouping_loss
    for own in found.values():
        assert own.grouping_loss == pytest.approx(100 * own.sse / own.sst)
        assert own.worst_columns.keys() == {*own.quasi_identifiers}
        assert (own.lower_bound is None) == bool(own.why_no_bound)
    none = {name for name, own in found.items() if own.lower_bound is None}
    assert none == {"dataset", "drawn", "weights"}


def test_units_and_requirements_are_kept():
    found = Manifest.load(KEPT / "v3" / "requirements.json")
    assert found.unit == found.units.column == "patient"
    assert (found.units.count, found.units.records_without, found.units.fewest) == (25, 0, 3)
    names = ("k units", "l-diversity", "t-closeness", "p per cent", "dominance")
    assert {each.requirement for each in found.requirements} == {*names}
    assert all(each.checkable and not each.records_failing for each in found.requirements)
    rows = Manifest.load(KEPT / "v3" / "rows.json")
    assert (rows.unit, rows.plan.unit, rows.requirements) == (None, "rows", ())
    assert rows.dropped == ("patient", "visit", "notes")


def test_manifests_are_frozen():
    found = manifest()
    with pytest.raises(ValueError, match="frozen"):
        found.k = 3
    with pytest.raises(ValueError, match="frozen"):
        found.input.file = "other.csv"
    with pytest.raises(AttributeError, match="cannot be changed"):
        found.plan.k = 3


def test_an_output_makes_another_manifest():
    found = manifest()
    named = found.with_output("t.csv", "abc")
    assert (found.output, named.output.file, named.output.sha256) == (None, "t.csv", "abc")
    assert named.as_dict() == {**found.as_dict(), "output": {"file": "t.csv", "sha256": "abc"}}


def test_what_a_later_release_of_this_version_adds_is_skipped(written):
    path = written({**manifest().as_dict(), "more": 1})
    assert Manifest.load(path) == manifest()


def test_k_is_kept_or_not():
    drawn = json.loads((KEPT / "v2" / "fcm-drawn.json").read_text("utf-8"))["draw"]
    assert manifest(draw=drawn, promise="none").is_drawn
    assert manifest(draw=drawn, promise="probabilistic k-anonymity").is_drawn
    assert not manifest(draw=drawn, promise="k-anonymity").is_drawn
    assert not manifest().is_drawn


PLAIN = manifest().as_dict()
COLUMN = {"type": "integer", "aggregate": "mean", "weight": 1.0, "missing": 0}


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "is not JSON in UTF-8"),
        (b"{", "is not JSON in UTF-8"),
        (b"\xff\xfe{}", "is not JSON in UTF-8"),
        ("[" * 100_000, "is not JSON in UTF-8"),
        ("[]", "is not a manifest of microagg"),
        ("5", "is not a manifest of microagg"),
        ({"name": "package", "version": "1.0"}, "is not a manifest of microagg"),
        (
            {**PLAIN, "schema_version": 5},
            r"has the schema version 5, .* up to 4\. Install a newer microagg",
        ),
        ({**PLAIN, "schema_version": "new"}, "has the schema version 'new'"),
        ({**PLAIN, "schema_version": "n" * 9999}, r"version 'n{20,200}\.\.\., and"),
        ({"microagg_version": "0.1.0"}, "is damaged: 'libraries' is missing"),
        ({k: v for k, v in PLAIN.items() if k != "n_groups"}, "is damaged: 'n_groups'"),
        ({**PLAIN, "k": "many"}, "is damaged: 'k'"),
        ({**PLAIN, "promise": "safety"}, "is damaged: 'promise'"),
        ({**PLAIN, "plan": 5}, "is damaged: 'plan"),
        ({**PLAIN, "plan": {"k": 0}}, "is damaged: 'plan"),
        ({**PLAIN, "plan": {"k": 5, "methd": "mdav"}}, "is damaged: 'plan"),
        ({**PLAIN, "plan": {"k": 5, "constraints": ["a ="]}}, "is damaged: 'plan"),
        ({**PLAIN, "plan": {"k": 5, "seed": 1, "random_state": 1}}, "is damaged: 'plan"),
        ({**PLAIN, "constraints": {}}, "is damaged: 'constraints"),
        ({**PLAIN, "method": "magic"}, "is damaged: 'method' is not as expected: method must be"),
        ({**PLAIN, "plan": {"k": 5, "method": "magic"}}, "damaged: 'plan.*method must be"),
        ({**PLAIN, "scale": "big"}, "is damaged: 'scale' is not as expected: scale must be one of"),
        (
            {**PLAIN, "columns": {"a": {**COLUMN, "type": "colour"}}},
            r"is damaged: 'columns\.a\.type' is 'colour', which this microagg does not know",
        ),
        ({**PLAIN, "columns": {"a": {**COLUMN, "aggregate": "sum"}}}, r"'columns\.a\.aggregate'"),
    ],
)
def test_other_files_are_refused_in_one_sentence(content, match, written):
    path = written(content)
    with pytest.raises(DataError, match=match) as refused:
        Manifest.load(path)
    assert "x.manifest.json" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("path", [3, None, b"x.manifest.json", {}])
def test_what_is_not_a_path(path):
    with pytest.raises(ParameterError, match="path must be the name of a manifest file"):
        Manifest.load(path)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ParameterError, match=r"cannot be read: No such file"):
        Manifest.load(tmp_path / "none.manifest.json")
    with pytest.raises(MicroaggError, match="cannot be read: Is a directory"):
        Manifest.load(tmp_path)
