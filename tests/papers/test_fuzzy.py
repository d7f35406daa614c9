"""The data of the paper's tables 1 to 3, and what it concludes from table 4.

V. Torra, "Fuzzy clustering-based microaggregation to achieve probabilistic k-anonymity for data
with constraints", Journal of Intelligent & Fuzzy Systems 39(5), 2020. It prints neither m nor the
start. Row 12 of table 1 is printed as (13, 100, 125.56), which violates the constraint that the
paper says it satisfies; with 16 it does.
"""

import numpy as np
import pytest

from microagg.fuzzy import EFCM, FCM

CONSTRAINT = ([[1.16, 1.07, -1.0]], [0.0])

TABLE_1 = np.array(
    [
        (15, 23, 42.01),
        (12, 43, 59.93),
        (64, 229, 319.27),
        (12, 45, 62.07),
        (28, 39, 74.21),
        (71, 102, 191.50),
        (23, 64, 95.16),
        (25, 102, 138.14),
        (48, 230, 301.78),
        (32, 50, 90.62),
        (90, 200, 318.40),
        (16, 100, 125.56),
    ]
)
TABLE_2 = np.array(
    [
        (16.91695, 26.67021, 41.37696),
        (15.48220, 42.61481, 60.60212),
        (65.86964, 228.47892, 318.70371),
        (12.97750, 45.84617, 60.80475),
        (25.93508, 38.55444, 75.96227),
        (72.14286, 103.34332, 191.54478),
        (24.43550, 65.84895, 96.49401),
        (24.56774, 101.54299, 137.49281),
        (47.97780, 226.75840, 302.78913),
        (28.43727, 48.02995, 89.97244),
        (91.86226, 197.98087, 318.96431),
        (11.64466, 100.13359, 127.12980),
    ]
)
TABLE_3 = np.array(  # the centres of the original data
    [
        (13.44075, 37.16236, 55.35500),
        (67.32890, 219.64071, 313.11708),
        (27.59963, 52.64698, 88.34783),
        (37.11288, 101.71213, 151.88292),
    ]
)


def centers(cls, X, constraints=None, **options):
    """Centres that grew from those of table 3, in the order of the table."""
    found = (
        cls(
            initial_centers=TABLE_3,
            constraints=constraints,
            tolerance=1e-12,
            max_iterations=3000,
            random_state=0,
            **options,
        )
        .fit(X)
        .centers_
    )
    assert len(found) == 4
    return found[np.argsort(found[:, 2])][[0, 3, 1, 2]]


def test_table_1_satisfies_the_constraint():
    np.testing.assert_allclose(TABLE_1 @ CONSTRAINT[0][0], 0.0, atol=1e-9)


def test_table_3_is_near_at_an_m_of_about_1_3():
    assert np.abs(centers(FCM, TABLE_1, m1=1.32) - TABLE_3).max() < 0.4


@pytest.mark.parametrize("m", [1.0, 1.05, 1.1, 1.2, 1.3, 1.5, 2.0, 5.0, 50.0])
def test_centres_of_noisy_data_satisfy_the_constraint(m):
    model = FCM(n_clusters=4, m1=m, constraints=CONSTRAINT, random_state=0).fit(TABLE_2)
    np.testing.assert_allclose(model.centers_ @ CONSTRAINT[0][0], 0.0, atol=1e-9)
    assert np.abs(TABLE_2 @ CONSTRAINT[0][0]).max() > 1.0


@pytest.mark.parametrize("rate", [1e-9, 1e-3, 0.01, 1.0, 1e9])
def test_centres_of_noisy_data_satisfy_the_constraint_by_entropy(rate):
    model = EFCM(n_clusters=4, lambda1=rate, constraints=CONSTRAINT, random_state=0).fit(TABLE_2)
    np.testing.assert_allclose(model.centers_ @ CONSTRAINT[0][0], 0.0, atol=1e-9)


@pytest.mark.parametrize("m", [1.05, 1.1, 1.2, 1.3, 1.5, 2.0])
def test_on_data_that_satisfy_it_the_constraint_changes_nothing(m):
    plain, bound = (
        FCM(initial_centers=TABLE_3, constraints=c, m1=m, random_state=0, max_iterations=50).fit(
            TABLE_1
        )
        for c in (None, CONSTRAINT)
    )
    np.testing.assert_allclose(bound.centers_, plain.centers_, atol=1e-7)


@pytest.mark.parametrize("m", np.linspace(1.05, 1.30, 6))
def test_table_4_the_constraint_brings_every_centre_nearer_to_that_without_noise(m):
    clean = centers(FCM, TABLE_1, m1=m)
    plain = np.linalg.norm(centers(FCM, TABLE_2, m1=m) - clean, axis=1)
    bound = np.linalg.norm(centers(FCM, TABLE_2, CONSTRAINT, m1=m) - clean, axis=1)
    assert (bound < plain).all()
