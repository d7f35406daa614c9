"""What gives units away although they are not published: their order, values of their own."""

import warnings

import numpy as np
import polars as pl
import pytest

from microagg import protect, verify
from microagg.core.errors import DataError, PrivacyWarning

RNG = np.random.default_rng(8)
PATIENT = np.repeat(np.arange(30), 4)
VISITS = pl.DataFrame(
    {
        "patient": PATIENT,
        "age": RNG.integers(20, 90, 120),
        "cost": RNG.lognormal(4, 1, 120).round(2),
        "ward": RNG.integers(0, 40, 120),
        "code": PATIENT * 7 + 1,
    }
)
SHUFFLED = VISITS.sample(fraction=1.0, shuffle=True, seed=3)


def warned(table, **asked):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        protect(table, 3, unit="patient", method="mdav", **asked)
    return [str(own.message) for own in caught if own.category is PrivacyWarning]


def test_records_in_the_order_of_units():
    (told,) = warned(VISITS.drop("code"), sensitive=["ward"])
    assert told.startswith("records of the same 'patient' follow each other")
    assert not warned(SHUFFLED.drop("code"), sensitive=["ward"])


@pytest.mark.parametrize("role", ["sensitive", "publish", "weights"])
def test_a_value_of_its_own_for_every_unit(role):
    (told,) = warned(SHUFFLED, **{"columns": {"ward": {"type": "integer"}}, role: "code"})
    assert told.startswith("column 'code' is published unchanged, and nearly every 'patient' has")


class TestContributionsWithWeights:
    TABLE = pl.DataFrame(
        {
            "turnover": [100.0 + at for at in range(24)],
            "w": [400.0, 1, 1, 1, 1, 1] * 4,
            "firm": [f"f{at}" for at in range(24)],
        }
    )

    def test_the_total_is_that_of_weighted_amounts(self):
        asked = {"weights": "w", "identifiers": "firm", "method": "mdav"}
        release = protect(self.TABLE, 3, dominance={"turnover": (1, 60)}, **asked)
        shares = (
            release.table.rename({"turnover": "shown"})
            .with_columns(amount=self.TABLE["turnover"] * self.TABLE["w"])
            .group_by("shown")
            .agg(pl.col("amount").max() / pl.col("amount").sum() * 100)
        )
        assert shares["amount"].max() <= 60
        (found,) = release.manifest.requirements
        assert found.worst == pytest.approx(shares["amount"].max())
        plan = release.manifest.plan
        assert verify(release.table, plan=plan, original=self.TABLE)
        plain = protect(self.TABLE, 3, **asked).table
        assert not verify(plain, plan=plan, original=self.TABLE)


def test_amounts_without_a_unit_may_be_of_the_largest():
    table = VISITS.with_columns(
        patient=pl.when(pl.col("age") > 80).then(None).otherwise("patient")
    ).drop("code", "ward")
    with pytest.raises(DataError, match=r"records have none\. Fill them in or remove"):
        protect(table, 3, unit="patient", p_percent={"cost": 5})
