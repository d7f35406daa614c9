"""The grammar of constraints: good texts, bad texts, and Python's own reading of the same text."""

import operator
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.constraints.grammar import parse
from microagg.core.errors import ParameterError

GOOD = {
    "net + tax = gross": ({"net": 1, "tax": 1, "gross": -1}, "=", 0),
    "1.16*v1 + 1.07*v2 == v3": ({"v1": "29/25", "v2": "107/100", "v3": -1}, "=", 0),
    "age >= 0": ({"age": 1}, ">=", 0),
    "part <= total": ({"part": 1, "total": -1}, "<=", 0),
    "2*(a - b)*3 = 4": ({"a": 6, "b": -6}, "=", 4),
    "a*2 - a/4 <= -(1 - 3)": ({"a": "7/4"}, "<=", 2),
    "- - +a >= --1": ({"a": 1}, ">=", 1),
    "3 <= a": ({"a": -1}, "<=", -3),
    "1e2*a = .5 + 2.": ({"a": 100}, "=", "5/2"),
    "1E-3*a=1": ({"a": "1/1000"}, "=", 1),
    "a + b - a = 1": ({"b": 1}, "=", 1),
    "(b - b + 2)*a = 1": ({"a": 2}, "=", 1),
    "a*(b - b + 2) = 1": ({"a": 2}, "=", 1),
    "'net income' + \"tax (%)\" = `gross-2`": (
        {"net income": 1, "tax (%)": 1, "gross-2": -1},
        "=",
        0,
    ),
    "'it''s' = 1": ({"it's": 1}, "=", 1),
    "größe_2.x + 年 <= e1": ({"größe_2.x": 1, "年": 1, "e1": -1}, "<=", 0),
    "  a=1\n": ({"a": 1}, "=", 1),
    "a \u2212 2\u00d7b \u2264 3": ({"a": 1, "b": -2}, "<=", 3),
    "a \u2265 3": ({"a": 1}, ">=", 3),
    "(" * 50 + "a" + ")" * 50 + " = 1": ({"a": 1}, "=", 1),
}

BAD = {
    "": (1, "got the end"),
    "a": (2, "'=', '<=' or '>=' is expected here; got the end"),
    "a + = 3": (5, "a number, a column or '(' is expected here; got '='"),
    "a =": (4, "got the end"),
    "net * tax = gross": (5, "a product of columns is not linear"),
    "2*(a + 1)*(b + 2) = 3": (10, "not linear"),
    "a/b = 1": (2, "a column as divisor"),
    "a/(2 - 2) = 1": (2, "the divisor is zero"),
    "a**2 = 4": (2, "without powers"),
    "a^2 = 4": (2, "without powers"),
    "a < 3": (3, "Write '<='"),
    "a > 3": (3, "Write '>='"),
    "a =< 3": (3, "Write '<='"),
    "a => 3": (3, "Write '>='"),
    "a != 3": (3, "Only '=', '<=' and '>='"),
    "0 <= a <= 3": (8, "a second comparison"),
    "2a = 3": (1, "Write 2*a, or quote"),
    "2 'a b' = 3": (1, "Write 2*'a b'"),
    "a b = 3": (3, "in quotes"),
    "a >= 0 and b >= 0": (8, "a separate constraint"),
    "a >= b and b >= 0": (8, "a separate constraint"),
    "a >= 1.000.000": (11, "Write numbers like 1000000"),
    "(a + b = c": (8, "one comparison, outside of parentheses"),
    "a) = 3": (2, "no matching '('"),
    "abs(a) = 3": (4, "no functions"),
    "5% * a = 3": (2, "0.05 for 5 per cent"),
    "a = b c": (7, "an operator or the end is expected here; got 'c'"),
    "1,5*a = 3": (2, "with a point"),
    "'a = 3": (1, "close the quote"),
    "'' = 3": (1, "must not be empty"),
    "(a + b = 3": (8, "an operator or ')'"),
    "a + b) = 3": (6, "got ')'"),
    "a. = 3": (2, "got '.'"),
    "a # b = 3": (3, "got '#'"),
    "a = 1e999": (5, "too large or too small"),
    "a = " + "9" * 999: (5, "too large or too small"),
    "(" * 51 + "a": (51, "50 deep"),
}


@pytest.mark.parametrize("text", GOOD)
def test_good_texts(text):
    coefficients, relation, bound = GOOD[text]
    found = parse(text)
    assert found.text == text.strip()
    assert found.coefficients == {name: Fraction(value) for name, value in coefficients.items()}
    assert (found.relation, found.bound) == (relation, Fraction(bound))


@pytest.mark.parametrize("text", BAD)
def test_bad_texts_are_refused_at_the_place(text):
    at, words = BAD[text]
    with pytest.raises(ParameterError, match=f"at character {at}, ") as error:
        parse(text)
    assert words in str(error.value)
    assert str(error.value).startswith(f"constraint {text!r}: ")
    assert "\n" not in str(error.value)
    assert str(error.value).endswith(".")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 = 1", "always holds"),
        ("a <= a", "always holds"),
        ("2*a = a + a + 1", "can never hold"),
        ("0 >= 1", "can never hold"),
        ("1e200*a = 3", "from 1e-100 to 1e100"),
        ("1e-200*a = 3", "from 1e-100 to 1e100"),
        ("a = 1e200*1e200", "from 1e-100 to 1e100"),
    ],
)
def test_what_no_column_can_keep_is_refused(text, words):
    with pytest.raises(ParameterError, match=words):
        parse(text)


@pytest.mark.parametrize("value", [None, 3, b"a = 1", ["a = 1"]])
def test_only_texts_are_constraints(value):
    with pytest.raises(ParameterError, match="must be a text such as"):
        parse(value)


NUMBERS = st.one_of(
    st.integers(0, 50).map(str), st.decimals(0, 20, places=2).map(str), st.just("1e-2")
)
LINEAR = st.recursive(
    st.one_of(NUMBERS, st.sampled_from(["a", "b", "c"])),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" + ", "-", " -"]), inner).map("".join),
        st.tuples(NUMBERS, inner).map(lambda parts: f"{parts[0]} * ({parts[1]})"),
        st.tuples(inner, NUMBERS).map(lambda parts: f"({parts[0]})*{parts[1]}"),
        st.tuples(inner, st.integers(1, 9)).map(lambda parts: f"-({parts[0]}) / {parts[1]}"),
    ),
    max_leaves=12,
)
VALUES = st.fractions(-20, 20, max_denominator=7)


@given(LINEAR, st.sampled_from(["=", "<=", ">="]), LINEAR, VALUES, VALUES, VALUES, VALUES)
def test_python_reads_the_same(left, relation, right, a, b, c, d):
    left = f"7*d + {left}"  # so that never all columns cancel out
    columns = {"a": a, "b": b, "c": c, "d": d, "F": Fraction}

    def value(text):
        exact = re.sub(r"\d[\d.]*(e-?\d+)?", lambda number: f"F('{number[0]}')", text)
        return eval(exact, {}, columns)

    found = parse(f"{left} {relation} {right}")
    total = sum(found.coefficients[name] * columns[name] for name in found.coefficients)
    assert total - found.bound == value(left) - value(right)
    compare = {"=": operator.eq, "<=": operator.le, ">=": operator.ge}[relation]
    assert compare(total, found.bound) == compare(value(left), value(right))
