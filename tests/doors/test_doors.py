"""Tables, files and folders go to those who know them, and get the same answer."""

import pytest

from microagg import measure, protect, verify
from microagg.core.errors import ParameterError
from tests.scale.datasets import ROLES, people, write_files


@pytest.fixture(scope="module")
def pair():
    """A table before and after, without its identifier."""
    original = people(300)
    return original.drop("id"), protect(original, 5, method="mdav", **ROLES).table


@pytest.fixture(scope="module")
def stored(pair, tmp_path_factory):
    """The same as files, and as folders of files."""
    place = tmp_path_factory.mktemp("doors")
    folders = [
        write_files(own, place / name, (100, 220))
        for own, name in zip(pair, ("in", "out"), strict=True)
    ]
    for own, name in zip(pair, ("in", "out"), strict=True):
        own.write_parquet(place / f"{name}.parquet")
    return {"files": [place / f"{name}.parquet" for name in ("in", "out")], "folders": folders}


@pytest.mark.parametrize("kind", ["files", "folders", "large files"])
@pytest.mark.parametrize("k", [5, 9])
def test_verify_answers_the_same(pair, stored, kind, k):
    there = stored[kind.removeprefix("large ")][1]
    large = {"memory": "1GB"} if kind == "large files" else {}
    expected = verify(pair[1], k, sensitive="disease")
    found = verify(there, k, sensitive="disease", **large)
    assert expected.satisfied == (k == 5)
    assert (found.satisfied, found.largest_k) == (expected.satisfied, expected.largest_k)
    assert found.classes.below == expected.classes.below


@pytest.mark.parametrize("kind", ["files", "folders", "large files"])
def test_measure_answers_the_same(pair, stored, kind):
    there = stored[kind.removeprefix("large ")]
    large = {"memory": "1GB"} if kind == "large files" else {}
    asked = {"quasi_identifiers": ["age", "income", "height", "job"], "sensitive": "disease"}
    expected, found = measure(*pair, **asked), measure(*there, **asked, **large)
    assert found.risk.classes == expected.risk.classes
    assert found.utility.loss.information_loss == pytest.approx(
        expected.utility.loss.information_loss
    )


@pytest.mark.parametrize("name", ["memory", "work_dir"])
@pytest.mark.parametrize("door", [verify, measure])
def test_a_table_takes_no_options_of_datasets(pair, door, name):
    tables = pair if door is measure else (pair[1], 5)
    with pytest.raises(ParameterError, match=f"^{name} is for datasets, which are files"):
        door(*tables, **{name: "1GB"})


def test_folders_are_measured_against_folders(stored):
    (file, _), (_, folder) = stored["files"], stored["folders"]
    with pytest.raises(ParameterError, match="both be folders, or both be files"):
        measure(file, folder)
    with pytest.raises(ParameterError, match="not by a key"):
        measure(*stored["folders"], key="age")
