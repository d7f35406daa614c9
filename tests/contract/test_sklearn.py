"""scikit-learn's own checks, on every registered method."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from microagg.core.registry import METHODS
from tests.contract import needs
from tests.contract.conftest import estimator

MANY_SMALL_GROUPS = "groups of k to 2k-1 records cannot be three large blobs"
SEVERAL_COLUMNS = "the check works on several columns, this method on one"

NEEDS_SEVERAL_COLUMNS = (
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_dtype_object",
    "check_f_contiguous_array_estimator",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
)


def cannot_apply(estimator):
    expected = {}
    merges = isinstance(estimator, needs.CLASSES["tclose-merge"])  # until blobs are left
    if not hasattr(estimator, "n_clusters") and not merges:
        expected["check_clustering"] = MANY_SMALL_GROUPS
    if estimator.single_column:
        expected |= dict.fromkeys(NEEDS_SEVERAL_COLUMNS, SEVERAL_COLUMNS)
        expected["check_estimator_sparse_array"] = (
            "the check builds a sparse array of one dimension"
        )
        expected["check_fit1d"] = "one column may come as a one-dimensional array"
    return expected


@parametrize_with_checks(
    [estimator(method) for method in METHODS.values()], expected_failed_checks=cannot_apply
)
@pytest.mark.slow
def test_scikit_learn_check(estimator, check):
    check(estimator)
