"""Numbers and times as text, with only meaningful digits."""

from collections.abc import Callable

import numpy as np

DAY = 86_400.0  # in seconds
MINUS, TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Word = Callable[[float], str]


def with_minus(text: str) -> str:
    """Return a number in print style: with a proper minus sign and a raised exponent.

    >>> with_minus("-1.5"), with_minus("2e+11"), with_minus("6.9e-12")
    ('−1.5', '2×10¹¹', '6.9×10⁻¹²')
    """
    mantissa, _, exponent = text.partition("e")
    if exponent:
        power = str(int(exponent)).translate(_RAISED)
        return "0" if float(mantissa) == 0.0 else f"{with_minus(mantissa)}{TIMES}10{power}"
    return text.replace("-", MINUS)


def is_zero(text: str) -> bool:
    """Whether all digits of a number are 0.

    >>> is_zero("-0.00"), is_zero("0.01")
    (True, False)
    """
    return not any(digit in text for digit in "123456789")


def round_step(width: float) -> float:
    """Return the least of 1, 2, 5 times a power of ten that is not below `width`.

    >>> round_step(0.3), round_step(4.0), round_step(700.0)
    (0.5, 5.0, 1000.0)
    """
    power = float(10.0 ** np.floor(np.log10(width)))
    return next(m * power for m in (1.0, 2.0, 5.0, 10.0, 20.0) if m * power >= width * (1 - 1e-9))


_LARGE = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))


def amount_word(value: float) -> str:
    """Write a round amount, large ones in words.

    >>> amount_word(0.001), amount_word(-5000.0), amount_word(2e7), amount_word(1e20)
    ('0.001', '−5,000', '20 million', '1×10²⁰')
    """
    size = abs(value)
    if size >= 1e15 or 0.0 < size < 1e-4:
        return with_minus(f"{value:.3g}")
    for unit, name in _LARGE:
        if size >= unit:
            return f"{with_minus(f'{value / unit:.4g}')} {name}"
    return with_minus(f"{value:,.0f}" if size >= 1.0 or not size else f"{value:.4f}".rstrip("0"))


def number_formatter(step: float, largest: float = 0.0, *, comma: bool = True) -> Word:
    """Return a formatter for multiples of `step`, up to `largest`, with the digits they need.

    Years have no comma between thousands.

    >>> number_formatter(0.05)(0.15000000000000002), number_formatter(5000.0)(25000.0)
    ('0.15', '25,000')
    >>> number_formatter(5e5, 4e7)(12_500_000.0), number_formatter(50.0, 1e8)(12_345_650.0)
    ('12.5 million', '12,345,650')
    >>> number_formatter(20.0, 2000.0, comma=False)(1980.0)
    '1980'
    """
    decimals = max(0, -int(np.floor(np.log10(step) + 1e-9)))
    mark = "," if comma else ""

    def word(value: float) -> str:
        if decimals > 5:
            return with_minus(f"{value:.3g}")
        if largest >= 1e15:
            return with_minus(f"{value:.3g}")
        if largest >= 1e7 and step >= 1e3 and value:
            unit, name = next(large for large in _LARGE if largest >= large[0])
            digits = max(0, -int(np.floor(np.log10(step / unit) + 1e-9)))
            return f"{with_minus(f'{value / unit:,.{digits}f}')} {name}"
        return with_minus(f"{value + 0.0:{mark}.{decimals}f}")

    return word


def time_formatter(unit: str) -> Word:
    """Return a formatter for times in seconds, truncated to a unit.

    >>> time_formatter("D")(86_400.0), time_formatter("M")(86_400.0), time_formatter("m")(86_460.0)
    ('1970-01-02', '1970-01', '1970-01-02 00:01')
    """

    def word(value: float) -> str:
        moment = np.datetime64(int(np.floor(value)), "s").astype(f"datetime64[{unit}]")
        return str(moment).replace("T", " ")

    return word


def number_step(spread: float, *, whole: bool = False, finest: float = 0.0) -> float:
    """Return what to round to: a hundredth of the power of ten below the deviation.

    Means of whole numbers have at most two decimals. The step is at least `finest`, if that is
    given, as 1, 2 or 5 times a power of ten.

    >>> number_step(13.1), number_step(0.5, whole=True), number_step(0.5, finest=5 / 100)
    (0.1, 0.01, 0.05)
    """
    power = int(np.floor(np.log10(spread))) - 2
    step = 10.0 ** (max(power, -2) if whole else power)
    return max(step, round_step(finest)) if finest > 0.0 else step


def number_word(
    spread: float | None, *, whole: bool = False, finest: float = 0.0, comma: bool = True
) -> Word:
    """Return a formatter that rounds to the step that fits the deviation.

    Years have no comma between thousands.

    >>> number_word(13.1)(48.51809), number_word(5210.0)(-1234567.8), number_word(0.0)(0.1234567)
    ('48.5', '−1,234,570', '0.1235')
    >>> number_word(0.5, whole=True)(1.0), number_word(0.5, whole=True)(1.46809)
    ('1', '1.47')
    >>> number_word(22.5, whole=True, comma=False)(1968.7)
    '1968.7'
    """
    mark = "," if comma else ""
    if not spread or not np.isfinite(spread):
        return _four_digits
    step = number_step(spread, whole=whole, finest=finest)
    decimals = max(0, -int(np.floor(np.log10(step) + 1e-9)))

    def word(value: float) -> str:
        if abs(value) >= 1e12 or decimals > 6:
            return _four_digits(value)
        near = round(value / step) * step
        is_whole = whole and abs(near - round(near)) < step / 2
        text = f"{near:{mark}.{0 if is_whole else decimals}f}"
        return "0" if is_zero(text) else with_minus(text)

    return word


def skewed_word(value: float) -> str:
    """Write an amount of a skewed column with three digits: deviations say nothing of small ones.

    >>> skewed_word(8_123_456.0), skewed_word(0.00091234), skewed_word(-24.0)
    ('8,120,000', '0.000912', '−24')
    """
    return _digits(value, 3)


def _four_digits(value: float) -> str:
    return _digits(value, 4)


def _digits(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    if "e+" in text and abs(value) < 1e12:
        text = f"{float(text):,.0f}"
    return with_minus(text)


def time_word(spread: float | None) -> Word:
    """Return a formatter for times whose precision fits their deviation in seconds.

    >>> time_word(900 * DAY)(0.0), time_word(30 * DAY)(0.0), time_word(3_000.0)(0.0)
    ('1970-01', '1970-01-01', '1970-01-01 00:00')
    """
    for least, unit in ((730 * DAY, "M"), (2 * DAY, "D"), (120.0, "m")):
        if spread and spread >= least:
            return time_formatter(unit)
    return time_formatter("s" if spread else "D")


def duration(seconds: float) -> str:
    """Write a span of time.

    >>> duration(1000 * DAY), duration(90.0)
    ('2.74 years', '1.5 minutes')
    """
    for size, name in ((365.25 * DAY, "years"), (DAY, "days"), (3_600.0, "hours")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {name}"
    return f"{seconds / 60.0:.3g} minutes"


def share_word(share: float) -> str:
    """Write a share for a bar.

    >>> share_word(0.256), share_word(0.0), share_word(0.004)
    ('26 %', '0 %', '0.4 %')
    """
    percent = 100.0 * share
    return f"{percent:.0f} %" if percent >= 9.95 or percent == 0 else f"{percent:.1f} %"
