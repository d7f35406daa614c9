"""Text -> one linear constraint, exactly: "1.16*v1 + 1.07*v2 = v3".

    constraint = sum relation sum
    relation   = "=" | "==" | "<=" | ">="
    sum        = product (("+" | "-") product)*
    product    = factor (("*" | "/") factor)*          at most one factor contains columns
    factor     = ("+" | "-")* (number | date | column | "(" sum ")")
    number     = 12, 0.16, .5, 1e-3
    date       = 2024-12-31, 2024-12-31T23:59, 2024-12-31T23:59:59
    column     = letters, digits, "_" and inner dots, not digits first; any other name in quotes

Quotes are '...', "..." or `...`; inside, the same quote is written twice.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction

from microagg.core.errors import ParameterError

RELATIONS = {"=": "=", "==": "=", "<=": "<=", ">=": ">="}

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?)(?![0-9:.])
  | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
  | (?P<name>[^\W\d]\w*(?:\.\w+)*)
  | (?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`)
  | (?P<sign><=|>=|==|=<|=>|!=|<>|\*\*|[-+*/()=<>]|[\u2264\u2265\u2212\u00d7])
  | (?P<other>\S)
  | (?P<end>\Z))""",
    re.VERBOSE,
)
_PLAIN = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
# Larger powers of ten do not occur in tables, and would exhaust the memory.
_LARGEST_EXPONENT = 300
_LARGEST = Fraction(10) ** 100
_DEEPEST = 50
# Typographic signs.
_TYPESET = {"\u2264": "<=", "\u2265": ">=", "\u2212": "-", "\u00d7": "*"}
_ADVICE = {
    "=": "There must be one comparison, outside of parentheses.",
    "<=": "There must be one comparison, outside of parentheses.",
    ">=": "There must be one comparison, outside of parentheses.",
    ")": "It has no matching '('.",
    "(": "There are no functions; put names with spaces or signs in quotes.",
    "%": "Write 0.05 for 5 per cent.",
    "and": "Give each comparison as a separate constraint.",
    "or": "Give each comparison as a separate constraint.",
    "<": "Write '<=': a published value cannot be distinguished from its limit.",
    ">": "Write '>=': a published value cannot be distinguished from its limit.",
    "=<": "Write '<='.",
    "=>": "Write '>='.",
    "!=": "Only '=', '<=' and '>=' can be guaranteed.",
    "<>": "Only '=', '<=' and '>=' can be guaranteed.",
    "**": "Constraints must be linear, without powers.",
    "^": "Constraints must be linear, without powers.",
    ",": "Write decimals with a point, and give each constraint separately.",
    "'": "The quoted name does not end: close the quote.",
    '"': "The quoted name does not end: close the quote.",
    "`": "The quoted name does not end: close the quote.",
}


@dataclass(frozen=True)
class Constraint:
    """The sum of columns times `coefficients` is =, <= or >= `bound`; `text` is as written.

    Dates that are named are part of the sum: `dates` is the sum of their coefficients, `seconds`
    that of their coefficients times seconds since 1970.
    """

    text: str
    coefficients: dict[str, Fraction]
    relation: str
    bound: Fraction
    dates: Fraction = field(default=Fraction(0), repr=False)
    seconds: Fraction = field(default=Fraction(0), repr=False)

    @property
    def meaning(self) -> tuple[object, ...]:
        """A value that is equal for equivalent constraints, however they are written."""
        named = (self.dates, self.seconds)
        return (frozenset(self.coefficients.items()), self.relation, self.bound, *named)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    at: int


@dataclass(frozen=True)
class _Sum:
    """Columns times coefficients plus a constant, and dates as in a `Constraint`."""

    coefficients: dict[str, Fraction]
    constant: Fraction
    dates: Fraction = Fraction(0)
    seconds: Fraction = Fraction(0)

    @property
    def is_number(self) -> bool:
        """Whether it has neither columns nor dates."""
        return not (any(self.coefficients.values()) or self.dates or self.seconds)

    def plus(self, other: "_Sum", factor: Fraction) -> "_Sum":
        coefficients = dict(self.coefficients)
        for name, coefficient in other.coefficients.items():
            coefficients[name] = coefficients.get(name, Fraction(0)) + factor * coefficient
        return _Sum(
            coefficients,
            self.constant + factor * other.constant,
            self.dates + factor * other.dates,
            self.seconds + factor * other.seconds,
        )

    def times(self, factor: Fraction) -> "_Sum":
        return _Sum({}, Fraction(0)).plus(self, factor)


def quoted_column(name: str) -> str:
    """Return a column as it is written in a constraint, in quotes if need be.

    >>> quoted_column("net.pay"), quoted_column("net pay"), quoted_column("and")
    ('net.pay', "'net pay'", "'and'")
    """
    if _PLAIN.fullmatch(name) and name.lower() not in ("and", "or"):
        return name
    return "'" + name.replace("'", "''") + "'"


def parse(text: str) -> Constraint:
    """Return the constraint in `text`, with exact coefficients.

    Columns are moved to the left and numbers to the right. Columns that cancel out are removed.

    >>> parse("1.16*v1 <= 2*(v2 - 3)")  # doctest: +NORMALIZE_WHITESPACE
    Constraint(text='1.16*v1 <= 2*(v2 - 3)',
               coefficients={'v1': Fraction(29, 25), 'v2': Fraction(-2, 1)},
               relation='<=', bound=Fraction(-6, 1))
    >>> parse("net * tax = gross")
    Traceback (most recent call last):
        ...
    microagg.core.errors.ParameterError: constraint 'net * tax = gross': at character 5, a product \
of columns is not linear. Multiply columns by numbers only.
    """
    if not isinstance(text, str):
        raise ParameterError(
            f"a constraint must be a text such as 'net + tax = gross'; got {type(text).__name__}."
        )
    return _Parser(text.strip()).constraint()


class _Parser:
    """Recursive descent: one method for each rule of the grammar."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.token = next(self.tokens)
        self.depth = 0

    def constraint(self) -> Constraint:
        left = self.sum()
        relation = RELATIONS.get(self.token.text, "") if self.token.kind == "sign" else ""
        if not relation:
            raise self.error("'=', '<=' or '>=' is expected here")
        self.advance()
        right = self.sum()
        if self.token.text in RELATIONS:
            raise self.error(
                "a second comparison cannot follow", "Give it as a separate constraint."
            )
        if self.token.kind != "end":
            raise self.error("an operator or the end is expected here")
        difference = left.plus(right, Fraction(-1))
        coefficients = {name: value for name, value in difference.coefficients.items() if value}
        if not coefficients:
            raise self.without_columns(relation, -difference.constant)
        sizes = [abs(value) for value in (*coefficients.values(), difference.constant) if value]
        if max(sizes) > _LARGEST or min(sizes) < 1 / _LARGEST:
            raise ParameterError(
                f"constraint {self.text!r}: coefficients must be from 1e-100 to 1e100 in absolute "
                "value; got one that is not. Change the units of the columns."
            )
        return Constraint(
            self.text,
            coefficients,
            relation,
            -difference.constant,
            difference.dates,
            difference.seconds,
        )

    def sum(self) -> _Sum:
        total = self.product()
        while self.token.kind == "sign" and self.token.text in "+-":
            factor = Fraction(1 if self.token.text == "+" else -1)
            self.advance()
            total = total.plus(self.product(), factor)
        return total

    def product(self) -> _Sum:
        result = self.factor()
        while self.token.kind == "sign" and self.token.text in ("*", "/"):
            operator = self.token
            self.advance()
            factor = self.factor()
            if operator.text == "/":
                result = self.quotient(result, factor, operator)
            elif not factor.is_number and not result.is_number:
                raise self.error(
                    "a product of columns is not linear",
                    "Multiply columns by numbers only.",
                    operator,
                )
            elif not factor.is_number:
                result = factor.times(result.constant)
            else:
                result = result.times(factor.constant)
        return result

    def quotient(self, result: _Sum, divisor: _Sum, operator: _Token) -> _Sum:
        if not divisor.is_number:
            problem, advice = "a column as divisor is not linear", "Divide by numbers only."
        elif divisor.constant == 0:
            problem, advice = "the divisor is zero", "Divide by another number."
        else:
            return result.times(1 / divisor.constant)
        raise self.error(problem, advice, operator)

    def factor(self) -> _Sum:
        sign = 1
        while self.token.kind == "sign" and self.token.text in "+-":
            sign = -sign if self.token.text == "-" else sign
            self.advance()
        return self.atom().times(Fraction(sign))

    def atom(self) -> _Sum:
        token = self.token
        if token.kind == "number":
            self.advance()
            return _Sum({}, self.number(token))
        if token.kind == "date":
            self.advance()
            return _Sum({}, Fraction(0), Fraction(1), self.seconds(token))
        if token.kind in ("name", "quoted"):
            self.advance()
            return _Sum({self.name(token): Fraction(1)}, Fraction(0))
        if token.text != "(":
            raise self.error("a number, a column or '(' is expected here")
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.error(f"parentheses may be {_DEEPEST} deep at most", "Simplify.")
        self.advance()
        inner = self.sum()
        if self.token.text != ")":
            raise self.error("an operator or ')' is expected here")
        self.depth -= 1
        self.advance()
        return inner

    def number(self, token: _Token) -> Fraction:
        _, _, exponent = token.text.lower().partition("e")
        if len(token.text) > _LARGEST_EXPONENT or abs(int(exponent or 0)) > _LARGEST_EXPONENT:
            raise self.error("the number is too large or too small", "Change the unit.", token)
        if self.token.kind in ("name", "quoted"):
            if self.token.text.lower() in ("and", "or"):
                raise self.error("the constraint must end here")
            raise self.error(
                "an operator must come between a number and a column",
                f"Write {token.text}*{self.token.text}, or quote a name that begins with a digit.",
                token,
            )
        return Fraction(token.text)

    def seconds(self, token: _Token) -> Fraction:
        """Return the seconds from 1970 to a date."""
        try:
            moment = datetime.fromisoformat(token.text).replace(tzinfo=UTC)
        except ValueError:
            raise self.error("there is no such date", "Correct it.", token) from None
        return Fraction(int(moment.timestamp()))

    def name(self, token: _Token) -> str:
        if token.kind == "name":
            return token.text
        quote = token.text[0]
        name = token.text[1:-1].replace(2 * quote, quote)
        if not name:
            raise self.error("a quoted name must not be empty", token=token)
        return name

    def advance(self) -> None:
        self.token = next(self.tokens)

    def error(self, problem: str, advice: str = "", token: _Token | None = None) -> ParameterError:
        at = token or self.token
        if token is None and not advice:
            found = "the end" if at.kind == "end" else repr(at.text)
            problem, advice = f"{problem}; got {found}", _advice(at)
        return ParameterError(
            f"constraint {self.text!r}: at character {at.at + 1}, {problem}. {advice}".rstrip()
        )

    def without_columns(self, relation: str, bound: Fraction) -> ParameterError:
        holds = {"=": bound == 0, "<=": bound >= 0, ">=": bound <= 0}[relation]
        verdict = "always holds" if holds else "can never hold"
        return ParameterError(
            f"constraint {self.text!r}: it must depend on a column; got one that {verdict}, "
            "whatever the data. Remove it, or name the columns it is about."
        )


def _advice(token: _Token) -> str:
    if token.kind == "end":
        return "Write constraints like 'net + tax = gross'."
    usual = "Put names with spaces or signs in quotes."
    if token.kind == "number":
        return "Write numbers like 1000000 or 0.5, and put names with spaces or signs in quotes."
    return _ADVICE.get(token.text.lower(), usual)


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while True:
        match = _TOKEN.match(text, at)
        assert match is not None  # the last two kinds match whatever is left
        kind = str(match.lastgroup)
        yield _Token(kind, _TYPESET.get(match[kind], match[kind]), match.start(kind))
        at = match.end()
