"""What a group can release of a column, and what happens to missing values."""

from enum import StrEnum


class Aggregate(StrEnum):
    """What a group releases of a column."""

    MEAN = "mean"
    MEDIAN = "median"
    LOWER_MEDIAN = "lower median"
    MODE = "mode"


class Missing(StrEnum):
    """What to do where values of quasi-identifiers are missing."""

    ERROR = "error"
    VALUE = "value"
    IMPUTE = "impute"
