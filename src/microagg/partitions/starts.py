"""Where a method that improves groups begins: with labels, or with those of another method."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.partitions.base import Labels
from microagg.registry import METHODS
from microagg.validation import check_choice, check_labels


def initial_labels(
    initial: str | ArrayLike, X: NDArray[Any], k: int, rng: np.random.Generator, *, at_least: int
) -> Labels:
    """Return the groups to begin with, numbered from 0, `at_least` records in each.

    Parameters
    ----------
    initial : labels of the records of X, or the name of a registered method that groups them
    rng : where a method with chance in it gets its seed from
    """
    if not isinstance(initial, str):
        return check_labels(initial, n_records=len(X), parameter="initial", at_least=at_least)
    method = METHODS[check_choice("initial", initial, METHODS)]
    chance = {"random_state": rng} if "random_state" in method.options else {}
    labels: Labels = method.cls(k=k, **chance).fit(X).labels_
    return labels
