"""A release by the default method: how much work, how near to the best possible, interrupts."""

import numpy as np
import polars as pl
import pytest

import microagg
from microagg.bounds import choice
from microagg.core.errors import InterruptedSearchWarning, ParameterError, PrivacyWarning
from microagg.partitions import Auto, Univariate
from microagg.release.protect import protect
from tests.references import sse

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 3))
Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
TABLE = pl.DataFrame(X, schema=["a", "b", "c"])
SST = (Z**2).sum()


def released(**options):
    return protect(TABLE, 3, random_state=1, **options)


@pytest.mark.slow
def test_the_default_is_auto_at_balanced_effort():
    release = released()
    assert release.manifest.method == "auto"
    assert release.manifest.options["effort"] == "balanced"
    expected = Auto(3, random_state=1).fit(Z)
    assert release.labels.tolist() == expected.labels_.tolist()
    assert not release.manifest.interrupted


def test_effort_and_time_budget_reach_the_method():
    release = released(effort="fast", time_budget=0)
    assert release.manifest.options["effort"] == "fast"
    assert release.manifest.options["time_budget"] == 0
    expected = Auto(3, effort="fast", time_budget=0, random_state=1).fit_predict(Z)
    assert release.labels.tolist() == expected.tolist()


@pytest.mark.slow
def test_a_fast_bound_comes_with_it():
    release, facts = released(), released().manifest.as_dict()
    assert facts["bound"] == "fast"
    assert release.lower_bound == facts["lower_bound"]
    assert release.lower_bound == pytest.approx(100 * microagg.lower_bound(Z, 3) / SST)
    assert facts["gap"] == pytest.approx(100 * (release.grouping_loss / release.lower_bound - 1))
    assert 0 < release.lower_bound < release.grouping_loss
    assert facts["proved_optimal"] is False


@pytest.mark.slow
def test_a_tight_bound_is_nearer():
    fast, tight = (released(effort="fast", bound=bound) for bound in ("fast", "tight"))
    assert fast.lower_bound < tight.lower_bound <= tight.grouping_loss
    assert tight.manifest.gap < fast.manifest.gap
    assert tight.manifest.bound == "tight"


def test_no_bound_where_none_is_wanted():
    release = released(effort="fast", bound="none")
    assert release.lower_bound is None
    assert [getattr(release.manifest, key) for key in ("bound", "lower_bound", "gap")] == [None] * 3
    assert release.manifest.proved_optimal is False
    assert release.manifest.why_no_bound == ""


def test_one_column_is_proved_optimal():
    release = protect(TABLE.select("a"), 4)
    assert release.manifest.proved_optimal is True
    assert release.manifest.gap == 0
    assert release.information_loss == pytest.approx(
        100 * sse(Z[:, :1], Univariate(4).fit_predict(Z[:, :1])) / (len(X) - 1)
    )
    assert release.lower_bound == pytest.approx(release.information_loss)


def test_records_that_do_not_differ_lose_nothing_and_are_optimal():
    release = protect(pl.DataFrame({"a": [1.0] * 6, "b": [2.0] * 6}), 2)
    facts = release.manifest.as_dict()
    assert (release.information_loss, release.lower_bound) == (0, 0)
    assert (facts["gap"], facts["proved_optimal"]) == (0, True)


def test_many_records_get_no_bound_unless_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(choice, "_WITHOUT", 50)
    assert released(effort="fast").lower_bound is not None
    assert released(method="mdav").lower_bound is None
    assert "--bound fast" in released(method="mdav").manifest.why_no_bound
    assert released(method="mdav", bound="fast").lower_bound is not None
    monkeypatch.setattr(choice, "_WITH_A_SEARCH", 59)
    assert released(effort="fast").lower_bound is None


def test_draws_below_k_have_no_bound():
    with pytest.warns(PrivacyWarning):
        assert released(method="fcm").lower_bound is None
    with pytest.raises(ParameterError, match="'fcm' draws values at random and does not guarantee"):
        released(method="fcm", bound="fast")
    strict = released(method="fcm", bound="fast", strict_k=True)
    assert strict.lower_bound < strict.grouping_loss


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"effort": "much"}, "effort must be one of 'fast', 'balanced', 'best'"),
        ({"bound": "loose"}, "bound must be one of 'auto', 'fast', 'tight', 'none'"),
        ({"bound": None}, "bound must be one of"),
        ({"time_budget": -1}, "time_budget must be a finite number of at least 0"),
        ({"time_budget": "long"}, "time_budget must be a finite number of at least 0"),
        (
            {"method": "mdav", "effort": "best"},
            "effort .--effort. is for 'auto'; how much work 'mdav'",
        ),
        ({"method": "mdav", "time_budget": 1}, "time_budget .--time-budget. is for the methods"),
        (
            {"method_options": {"effort": "best"}},
            "effort is not an option of a method: give it as --effort",
        ),
        ({"method_options": {"time_budget": 3}}, "time_budget is not an option of a method"),
        ({"method_options": {"depth": 3}}, "has no option 'depth'; .* 'random_state', 'n_jobs'"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(ParameterError, match=message) as caught:
        released(**options)
    assert "\n" not in str(caught.value)


def test_a_budget_for_the_tight_bound_of_a_quick_method():
    assert released(method="mdav", bound="tight", time_budget=1.5).lower_bound is not None


def test_icsm_takes_a_budget():
    facts = released(method="icsm", time_budget=5).manifest.as_dict()
    assert facts["options"]["time_budget"] == 5


def interrupt_at(task_to_end):
    def listen(task, _done, _total):
        if task == task_to_end:
            raise KeyboardInterrupt

    return listen


def test_an_interrupt_releases_the_best_groups_so_far():
    with pytest.warns(InterruptedSearchWarning, match="best groups so far"):
        release = released(effort="best", progress=interrupt_at("searching"))
    assert release.manifest.interrupted is True
    assert release.table.group_by("a", "b", "c").len()["len"].min() >= 3


def test_one_interrupt_ends_the_tight_bounds_of_all_strata():
    heard = []

    def interrupt(task, _done, _total):
        if task.startswith("tight bound"):
            heard.append(task)
            raise KeyboardInterrupt

    table = TABLE.with_columns(part=pl.Series(["x", "y", "z"] * 20))
    asked = {"k": 3, "strata": "part", "method": "mdav", "random_state": 1}
    with pytest.warns(InterruptedSearchWarning, match="best bound so far") as caught:
        release = protect(table, bound="tight", progress=interrupt, **asked)
    assert len(heard) == len(caught) == 1
    assert release.manifest.bound == "tight"
    assert release.lower_bound >= protect(table, bound="fast", **asked).lower_bound


def test_an_interrupt_of_the_bound_leaves_the_groups():
    with pytest.warns(InterruptedSearchWarning, match="no bound"):
        release = released(effort="fast", progress=interrupt_at("bound"))
    assert release.lower_bound is None
    assert release.manifest.interrupted is False
    assert release.labels.tolist() == released(effort="fast").labels.tolist()


def test_an_interrupt_before_there_are_groups_ends_everything():
    with pytest.raises(KeyboardInterrupt):
        released(effort="fast", progress=interrupt_at("grouping"))
