"""Systems of constraints: what is refused, who violates, what is released."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from microagg.constraints.grammar import parse
from microagg.constraints.system import System
from microagg.core.errors import DataError, ParameterError
from microagg.core.progress import listening

COLUMNS = ["net", "tax", "gross", "age", "part", "total"]
ANY = (-(2**63), 2**63 - 1)


def test_components_share_no_column():
    texts = ["net + tax = gross", "part <= total", "tax >= 0", "total <= 3"]
    system = System.of(texts, COLUMNS)
    assert [component.columns for component in system.components] == [
        ("net", "tax", "gross"),
        ("part", "total"),
    ]
    assert system.columns == ("net", "tax", "gross", "part", "total")
    linked = System.of([*texts, parse("gross = 2*total")], COLUMNS)
    assert [component.columns for component in linked.components] == [system.columns]


def test_no_constraints_ask_for_nothing():
    system = System.of([], COLUMNS)
    assert system.violations({}) == {}
    assert system.nearest({}, {}).values == {}


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["nett = 1"], r"'nett = 1': .*got 'nett', which .*Did you mean 'net'\?"),
        (["net = diagnosi"], r"got 'diagnosi'.* Did you mean 'diagnosis'\?"),
        (["net = diagnosis"], "'diagnosis' is sensitive. Make it a quasi-identifier"),
        (["zzz = 1"], "the table does not have. Correct the name, or remove the constraint.$"),
    ],
)
def test_columns_must_be_quasi_identifiers(texts, words):
    with pytest.raises(ParameterError, match=words):
        System.of(texts, COLUMNS, other_columns={"diagnosis": "sensitive"})


@pytest.mark.parametrize(
    ("texts", "named"),
    [
        (["net = 1", "net = 2"], ["net = 1", "net = 2"]),
        (["age >= 0", "net + tax = 1", "2*net + 2*tax = 3"],
         ["net + tax = 1", "2*net + 2*tax = 3"]),
        (["part <= 1", "part >= 2"], ["part <= 1", "part >= 2"]),
        (["part <= 1", "part >= 1.0000000001"], ["part <= 1", "part >= 1.0000000001"]),
        (["part <= total", "total <= 1", "part >= 2", "part >= 0"],
         ["part <= total", "total <= 1", "part >= 2"]),
        (["net = tax", "net <= tax - 1e-9"], ["net = tax", "net <= tax - 1e-9"]),
    ],
)  # fmt: skip
def test_contradictions_are_refused_and_only_those_named(texts, named):
    with pytest.raises(ParameterError, match="contradict each other: no values satisfy") as error:
        System.of(texts, COLUMNS)
    for text in texts:
        assert (repr(text) in str(error.value)) == (text in named)


@pytest.mark.parametrize(
    ("texts", "limits"),
    [
        (["2*a = 3"], ANY),
        (["2*a + 4*b = 3"], ANY),
        (["3*a >= 1", "3*a <= 2"], ANY),
        (["2*a = b", "b = 2*c + 1"], ANY),
        (["a >= 300"], (0, 255)),
        (["a + b >= 600"], (0, 255)),
        (["7*a - 4*b = 2", "a >= 0", "b >= 0", "a + b <= 4"], ANY),
    ],
)
def test_what_whole_numbers_cannot_satisfy_is_refused(texts, limits):
    with pytest.raises(ParameterError, match=r"in whole numbers that 'a'.* can hold"):
        System.of(texts, "abc", integers=dict.fromkeys("abc", limits))
    System.of(texts, "abc")


def test_redundant_constraints_are_tolerated():
    texts = [
        "net + tax = gross",
        "gross = tax + net",
        "2*net = 2*gross - 2*tax",
        "net<=3",
        "net<=4",
    ]
    system = System.of([*texts, texts[0]], COLUMNS)
    assert len(system.constraints) == 5
    means = {"net": np.array([9.0]), "tax": np.array([1.0]), "gross": np.array([10.0])}
    found = system.nearest(means, dict.fromkeys(means, 1.0)).values
    assert found["net"] == 3
    assert found["net"] + found["tax"] == pytest.approx(found["gross"])


@given(st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), min_size=1, max_size=6))
def test_feasibility_is_that_of_a_linear_program(rows):
    texts, A, b = [], [], []
    for *terms, bound in rows:
        if any(terms):
            left = " + ".join(f"{term}*{name}" for term, name in zip(terms, "abc"))
            texts.append(f"{left} <= {bound}")
            A.append(terms)
            b.append(bound)
    assume(texts)
    feasible = linprog(np.zeros(3), A, b, bounds=(None, None)).status == 0
    try:
        System.of(texts, "abc")
        found = True
    except ParameterError:
        found = False
    assert found == feasible


@pytest.mark.parametrize("huge", [8.98846567431158e307, 1.7e308])
def test_sums_of_huge_values_do_not_overflow(huge):
    texts = ["2*a >= 0", "a + b <= 5", "a = b", "a + b + c >= 0"]
    columns = {"a": [huge, huge, -huge, 1.0], "b": [huge, -huge, -huge, 3.0], "c": [0.0] * 4}
    found = System.of(texts, list(columns)).violations(columns, dict.fromkeys(columns, huge / 2))
    # Against tolerances that go with huge scales, 1 and 3 are the same.
    assert list(found.values()) == [1, 1, 1, 1]


def test_violations_are_counted_by_constraint():
    system = System.of(["net + tax = gross", "tax >= 0", "part <= total"], COLUMNS)
    records = {
        "net": np.array([0.1, 1.0, 2.0, 1e9]),
        "tax": np.array([0.2, -1.0, 1.0, 1.0]),
        "gross": np.array([0.3, 0.0, 4.0, 1e9 + 1.5]),
        "part": [1, 2, 3, 4],
        "total": [1, 2, 2, 3],
    }
    assert system.violations(records) == {"net + tax = gross": 2, "tax >= 0": 1, "part <= total": 2}


def test_decimals_are_counted_to_the_cent_whatever_the_sum():
    system = System.of(["net + 0.19*net = gross"], ["net", "gross"])
    net = np.array([1e9, 0.0, 100.0])
    for gross, violated in (([1.19e9, 0.0, 119.0], 0), ([1.19e9 + 0.01, 0.01, 119.01], 3)):
        records = {"net": net, "gross": np.array(gross)}
        assert system.violations(records) == {"net + 0.19*net = gross": violated}
    thirds = {"net": net / 3.0, "gross": 1.19 * net / 3.0 + [1e-3, 0.0, 1e-10]}
    assert system.violations(thirds) == {"net + 0.19*net = gross": 0}
    narrow = {name: np.array([1e7, 1.0], np.float32) for name in ("net", "gross")}
    narrow["gross"] *= np.float32(1.19)
    assert system.violations(narrow) == {"net + 0.19*net = gross": 0}


def test_whole_numbers_are_counted_exactly():
    system = System.of(["a + b = c", "a <= 2*b/3"], "abc")
    records = {
        "a": np.array([2**62, 2**62, 2], dtype=np.int64),
        "b": np.array([2**62, 2**62, 3], dtype=np.uint64),
        "c": np.array([2**63, 2**63 + 1, 5], dtype=np.uint64),
    }
    assert system.violations(records) == {"a + b = c": 1, "a <= 2*b/3": 2}
    small = {"a": np.array([100], np.int8), "b": np.array([100], np.int8), "c": np.array([200])}
    assert system.violations(small) == {"a + b = c": 0, "a <= 2*b/3": 1}


def test_means_of_data_that_satisfy_come_back_bit_for_bit():
    rng = np.random.default_rng(0)
    net, tax = rng.normal(size=(2, 500, 7)).round(2) * 1000
    part = np.abs(rng.normal(size=(500, 7)))
    records = {"net": net, "tax": tax, "gross": net + tax, "part": part, "total": part * 1.5}
    means = {name: values.mean(axis=1) for name, values in records.items()}
    scales = {name: float(values.std()) for name, values in records.items()}
    system = System.of(["net + tax = gross", "part <= total", "part >= 0"], list(records))
    found = system.nearest(means, scales)
    assert found.moved == 0
    assert all(np.array_equal(found.values[name], means[name]) for name in means)


def test_means_of_data_that_do_not_are_moved_and_counted():
    rng = np.random.default_rng(1)
    means = {name: 10 ** rng.uniform(-3, 6) * rng.normal(size=300) for name in COLUMNS}
    means["gross"][:100] = means["net"][:100] + means["tax"][:100]
    texts = ["1.16*net + 1.07*tax = gross", "age >= 0", "part <= total", "gross <= 3*age + 1e4"]
    system = System.of(texts, COLUMNS)
    heard = []
    with listening(lambda *message: heard.append(message)):
        found = system.nearest(means, {name: float(means[name].std()) for name in COLUMNS})
    assert system.violations(found.values) == dict.fromkeys(texts, 0)
    changed = np.any([found.values[name] != means[name] for name in COLUMNS], axis=0)
    assert found.moved == np.count_nonzero(changed)
    assert heard[-1][1] == heard[-1][2] == 300
    again = system.nearest(found.values, {name: float(means[name].std()) for name in COLUMNS})
    assert again.moved == 0


@pytest.mark.parametrize("whole", [{}, {"tax": ANY}, {"net": ANY, "tax": ANY, "gross": ANY}])
def test_constant_columns_move_last(whole):
    means = {"net": np.array([5.2, 7.0]), "tax": np.array([3.0, 3.0]), "gross": np.array([9.0, 9])}
    scales = {"net": 1.0, "tax": 0.0, "gross": 1.0}
    system = System.of(["net + tax = gross"], COLUMNS, integers=whole)
    found = system.nearest(means, scales).values
    assert np.array_equal(found["tax"], [3, 3])
    assert np.allclose(found["net"] + 3, found["gross"], rtol=1e-12, atol=0)
    stuck = System.of(["net + tax = gross", "tax = 4"], COLUMNS, integers=whole)
    found = stuck.nearest(means, scales).values
    assert np.array_equal(found["tax"], [4, 4])
    assert np.allclose(found["net"] + 4, found["gross"], rtol=1e-12, atol=0)


def test_all_columns_constant():
    system = System.of(["a + b = 5"], "ab", integers={"a": ANY, "b": ANY})
    zero = {"a": 0.0, "b": 0.0}
    found = system.nearest({"a": np.array([2.0, 2]), "b": np.array([3.0, 3])}, zero)
    assert found.moved == 0
    assert found.values["a"].dtype == np.int64
    found = system.nearest({"a": np.array([2.0, 2]), "b": np.array([2.0, 2])}, zero)
    assert (found.values["a"] + found.values["b"] == 5).all()


@pytest.mark.parametrize(
    ("value", "words"), [(2.0**54, r"from -2\*\*53 to 2\*\*53; 'a'"), (np.nan, "must be finite")]
)
def test_means_that_cannot_be_served(value, words):
    system = System.of(["a <= b"], "ab", integers={"a": ANY})
    with pytest.raises(DataError, match=words):
        system.nearest({"a": np.array([value]), "b": np.array([1.0])}, {"a": 1.0, "b": 1.0})


def test_scales_that_differ_too_much_for_floats_are_served_and_told():
    texts = ["1.16*a <= -0.02028", "-b - c + 1.07*d + 0.001*a = -95540000", "0.5*c - a <= 48050000"]
    texts += [
        "1.07*a + 0.001*e + 100*d = 0",
        "1.07*a >= 3*c",
        "0.5*d + 100*c + 1.16*a - b >= 9.609e9",
    ]
    scales = dict(zip("abcde", [1.1e-2, 2.6e6, 9.6e7, 1.6e5, 7e-1]))
    rng = np.random.default_rng(2)
    means = {name: scale * rng.normal(size=20) for name, scale in scales.items()}
    system = System.of(texts, "abcde")
    found = system.nearest(means, scales)
    assert system.violations(found.values) == dict.fromkeys(texts, 0)
    assert (found.unproved > 0) == (found.excess > 0)
