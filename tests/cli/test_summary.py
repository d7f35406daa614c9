"""The words of a summary."""

import pytest

from microagg.cli.summary import table_rows
from tests.manifests import manifest


@pytest.mark.parametrize(
    ("merged", "words"),
    [
        (0, "3 by region, the smallest of 5 records"),
        (1, "3 by region, the smallest of 5 records, after 1 small one was merged"),
        (2, "3 by region, the smallest of 5 records, after 2 small ones were merged"),
    ],
)
def test_merged_strata_are_counted(merged, words):
    strata = {"columns": ["region"], "count": 3, "smallest": 5, "merged": merged}
    assert ("strata", words) in table_rows(manifest(strata_found=strata))
