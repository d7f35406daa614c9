"""A table to try things with: the diabetes patients that come with scikit-learn."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

SENSITIVE = "progression"


def diabetes() -> "pl.DataFrame":
    """442 patients in their own units; columns of whole numbers are integers."""
    import numpy as np
    import polars as pl
    from sklearn.datasets import load_diabetes

    patients = load_diabetes(scaled=False)
    values = dict(zip(patients.feature_names, patients.data.T, strict=True))
    values[SENSITIVE] = patients.target
    whole = {name: bool((np.rint(v) == v).all()) for name, v in values.items()}
    return pl.DataFrame(
        {name: v.astype(np.int64) if whole[name] else v.copy() for name, v in values.items()}
    )
