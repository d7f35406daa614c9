"""Whoever watches a search hears of its best groups, and can end it with them."""

import warnings
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from microagg import protect, verify
from microagg.core.errors import InterruptedSearchWarning
from microagg.core.progress import listening_for_best, report_best, without_reports


def table(n=900, columns="abc", seed=1):
    rng = np.random.default_rng(seed)
    values = {name: rng.normal(size=n).round(3) for name in columns}
    where = [("north", "south", "east")[i % 3] for i in range(n)]
    return pl.DataFrame(values | {"where": where, "illness": [f"i{i % 7}" for i in range(n)]})


KINDS = {
    "one part": {"drop": ["where", "illness"]},
    "strata": {"strata": ["where"], "drop": ["illness"]},
    "blocks": {"blocks": [["a", "b"]], "drop": ["where", "illness"]},
    "requirements": {"l_diversity": {"illness": 3}, "sensitive": ["illness"], "drop": ["where"]},
}


@pytest.mark.slow
@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
def test_the_loss_falls_to_that_of_the_groups(options):
    heard = []
    with listening_for_best(heard.append), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = protect(table(), k=3, random_state=1, effort="fast", **options)
    assert heard
    assert 0 < min(heard) <= 100
    assert release.grouping_loss <= heard[-1] * (1 + 1e-9)
    assert not release.manifest.interrupted


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
def test_raising_an_interrupt_there_keeps_the_best_groups(options):
    def end(_):
        raise KeyboardInterrupt

    with listening_for_best(end), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = protect(table(), k=3, random_state=1, **options)
    assert release.manifest.interrupted
    checked = verify(release.table, plan=release.manifest.plan)
    assert checked.satisfied


@pytest.mark.slow
def test_large_tables_are_heard_of_as_well():
    X = table(52_000, "ab").drop("where", "illness")
    heard = []
    with listening_for_best(heard.append):
        release = protect(X, k=3, random_state=1, effort="fast", bound="none")
    assert len(heard) > 1
    assert all(later <= earlier for earlier, later in pairwise(heard))
    assert release.grouping_loss == pytest.approx(heard[-1], rel=0.05)

    def end(_):
        raise KeyboardInterrupt

    with listening_for_best(end), pytest.warns(InterruptedSearchWarning):
        stopped = protect(X, k=3, random_state=1, effort="fast", bound="none")
    assert stopped.grouping_loss >= release.grouping_loss


def test_nobody_hears_of_methods_without_a_search():
    heard = []
    with listening_for_best(heard.append):
        protect(table().drop("where", "illness"), k=3, method="mdav")
    assert heard == []


def test_work_on_the_side_is_not_heard_of():
    heard = []
    with listening_for_best(heard.append), without_reports():
        report_best(1.0)
    assert heard == []
