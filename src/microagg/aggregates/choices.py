"""Choices about released values, apart so that a plan can list them without loading the rest."""

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
