"""What was done: the manifest of a release."""

from enum import StrEnum


class Promise(StrEnum):
    """What a release promises of the records that share a released combination."""

    K_ANONYMITY = "k-anonymity"
    BLOCKWISE = "k-anonymity within each block of columns"
    PROBABILISTIC = "probabilistic k-anonymity"
    NOTHING = "none"
