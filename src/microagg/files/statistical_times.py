"""Dates and times as the numbers that SPSS, Stata and SAS store."""

import re
from dataclasses import dataclass
from datetime import date

import polars as pl

from microagg.files.annotations import Family

_DAY = 86_400_000_000
# Microseconds that the stored floats can resolve in any year: those of SPSS count from 1582.
_RESOLUTION = 100
_YEAR_1 = (date.min - date(1970, 1, 1)).days * _DAY
_YEAR_9999 = ((date.max - date(1970, 1, 1)).days + 1) * _DAY

_DATES = {
    Family.SPSS: r"(DATE|ADATE|EDATE|JDATE|SDATE|QYR|MOYR|WKYR)\d*",
    Family.STATA: r"%-?t?d.*",
    Family.SAS: r"(DATE|WEEKDAT[EX]|(MMDD|DDMM)YY[BCDNPS]?|YYMMDD[BDNPS]?|(IS|E|B)8601DA)"
    r"\d*(\.\d*)?",
}
_DATETIMES = {
    Family.SPSS: r"(DATETIME|YMDHMS)\d*(\.\d+)?",
    Family.STATA: r"%-?t[cC].*",
    Family.SAS: r"(DATETIME|DATEAMPM|MDYAMPM|(IS|E|B)8601DT|B8601DN)\d*(\.\d*)?",
}
DATE_FORMAT = {Family.SPSS: "DATE11", Family.STATA: "%td"}
DATETIME_FORMAT = {Family.SPSS: "DATETIME20", Family.STATA: "%tc"}


@dataclass(frozen=True)
class TimeEncoding:
    """How a display format counts time: in units of `step` microseconds since `origin`.

    The origin is in microseconds from 1970; it is negative for all of these programs.
    """

    is_date: bool
    step: int
    origin: int

    def decode(self, numbers: pl.Series) -> pl.Series:
        """Return dates, datetimes if not all are at midnight, or numbers if a year is absurd."""
        whole = numbers.cast(pl.Float64).floor()
        rest = ((numbers - whole) * self.step / _RESOLUTION).round() * _RESOLUTION
        if not (whole.abs().max() or 0) * self.step < 2.0**62:  # type: ignore[operator]
            return numbers
        moments = (
            whole.cast(pl.Int64, strict=False) * self.step
            + rest.cast(pl.Int64, strict=False)
            + self.origin
        )
        if not moments.drop_nulls().is_between(_YEAR_1, _YEAR_9999 - 1).all():
            return numbers
        datetimes = moments.cast(pl.Datetime("us"))
        if self.is_date and (moments % _DAY == 0).all():
            return datetimes.cast(pl.Date)
        return datetimes

    def encode(self, times: pl.Series) -> pl.Series:
        """Return the numbers that a file stores for dates or datetimes."""
        moments = times.cast(pl.Datetime("us")).cast(pl.Int64) - self.origin
        # Whole steps and the rest separately: a float cannot hold their sum in microseconds.
        whole = (moments // self.step).cast(pl.Float64)
        return whole + (moments % self.step).cast(pl.Float64) / self.step


def time_encoding(format_: str | None, family: Family) -> TimeEncoding | None:
    """Return how numbers with this display format count time, None if they do not.

    SPSS times of day and durations stay numbers of seconds; Stata weeks, months, quarters and years
    stay numbers.
    """
    is_date = re.fullmatch(_DATES[family], format_ or "") is not None
    if not is_date and not re.fullmatch(_DATETIMES[family], format_ or ""):
        return None
    first = date(1582, 10, 14) if family is Family.SPSS else date(1960, 1, 1)
    origin = (first - date(1970, 1, 1)).days * _DAY
    if family is Family.SPSS:
        return TimeEncoding(is_date, 1_000_000, origin)
    if is_date:
        return TimeEncoding(is_date, _DAY, origin)
    return TimeEncoding(is_date, 1000 if family is Family.STATA else 1_000_000, origin)
