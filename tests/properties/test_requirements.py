"""Whatever is required of groups: refused if some stratum cannot meet it, or met in the file."""

import csv
import tempfile
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from microagg import Plan, methods, protect_file
from microagg.core.errors import MicroaggError, ParameterError, PrivacyWarning
from tests.requirements.asked import ASKED, keywords, meets

# All that serve any requirement on several columns.
METHODS = [
    name
    for name, method in methods().items()
    if not (method.draws or method.needs or method.single_column)
]


def columns_of(wanted, *, strata):
    """The columns of a plan."""
    made = {
        "who": {"role": "drop"},
        "s": {"role": "sensitive"},
        "v": {"role": "sensitive"},
        "x": {"role": "quasi-identifier"},
        "z": {"role": "quasi-identifier"},
        "area": {"role": "stratum" if strata else "drop"},
    }
    for keyword, values in keywords(wanted).items():
        if keyword == "unit":
            made["who"] = {"role": "unit"}
        else:
            for name, value in values.items():
                made[name] = {**made[name], keyword: value}
    return made


@st.composite
def requests(draw):
    """Records and what is asked of them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 30))
    gone = draw(st.sampled_from([0.0, 0.0, 0.2]))

    def some(values):
        return [None if hidden else v for v, hidden in zip(values, rng.random(n) < gone)]

    columns = {
        "who": some([f"p{i}" for i in rng.integers(draw(st.sampled_from([2, n, 3 * n])), size=n)]),
        "s": some(["abcd"[i] for i in rng.integers(draw(st.integers(1, 4)), size=n)]),
        "v": some(rng.integers(draw(st.integers(1, 9)), size=n).tolist()),
        "x": rng.lognormal(sigma=1.5, size=n).round(2).tolist(),
        "z": rng.integers(5, size=n).tolist(),
        "area": ["nsw"[i] for i in rng.integers(draw(st.integers(1, 3)), size=n)],
    }
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    names = draw(st.lists(st.sampled_from(list(ASKED)), min_size=1, max_size=2, unique=True))
    if {*names} == {"distinct", "entropy"}:
        names.pop()  # a column has one of them
    wanted = [(name, draw(st.sampled_from(ASKED[name][2]))) for name in names]
    return records, wanted, draw(st.integers(1, min(4, n))), draw(st.booleans())


def strata_of(records, *, strata):
    found = defaultdict(list)
    for at, row in enumerate(records):
        found[row["area"] if strata else "all"].append(at)
    return list(found.values())


@given(request=requests(), method=st.sampled_from(METHODS), decimal=st.sampled_from(".,"))
@settings(deadline=None, max_examples=300, suppress_health_check=list(HealthCheck))
@pytest.mark.slow
def test_met_in_the_file_or_refused(request, method, decimal):
    check(request, method, decimal)


@given(request=requests(), method=st.sampled_from(("auto", "mdav")))
@settings(deadline=None, max_examples=20, suppress_health_check=list(HealthCheck))
def test_met_in_the_file_or_refused_by_the_default(request, method):
    check(request, method, ".")


def check(request, method, decimal):
    records, wanted, k, strata = request
    can_be_met = all(meets(wanted, records, g, k) for g in strata_of(records, strata=strata))
    plan = Plan.of(
        k=k,
        method=method,
        random_state=0,
        columns=columns_of(wanted, strata=strata),
        **({"effort": "fast"} if method == "auto" else {}),
    )
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        source, target = Path(folder) / "in.csv", Path(folder) / "out.csv"
        write(source, records, decimal)
        refusal = refusal_of(source, target, plan, decimal)
        if "Fill them in or remove" in str(refusal):  # amounts that may be of anybody
            assert any(record["who"] is None for record in records)
            return
        assert (refusal is None) == can_be_met, refusal
        if refusal is not None:
            words = ("every stratum must", "no record has a value in the unit")
            assert isinstance(refusal, ParameterError) or any(w in str(refusal) for w in words)
            assert [path.name for path in Path(folder).iterdir()] == ["in.csv"]
            return
        groups = groups_in(target, strata=strata)
    assert sorted(at for group in groups for at in group) == list(range(len(records)))
    for group in groups:
        assert meets(wanted, records, group, k)


def refusal_of(source, target, plan, decimal):
    try:
        protect_file(source, target, plan, decimal=decimal)
    except MicroaggError as error:
        return error
    return None


def write(path, records, decimal):
    def text(value):
        written = "" if value is None else str(value)
        return written.replace(".", decimal) if isinstance(value, float) else written

    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, delimiter=";")
        writer.writerow(records[0])
        writer.writerows([text(value) for value in row.values()] for row in records)


def groups_in(path, *, strata):
    """The records of a file that show the same, as lists of places."""
    shown = ["x", "z", *(["area"] if strata else [])]
    found = defaultdict(list)
    with path.open(newline="") as stream:
        for at, row in enumerate(csv.DictReader(stream, delimiter=";")):
            assert "who" not in row
            found[tuple(row[name] for name in shown)].append(at)
    return list(found.values())
