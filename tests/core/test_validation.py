import numpy as np
import pytest

from microagg import Plan
from microagg.core.errors import DataError, ParameterError
from microagg.core.validation import check_group_sums, check_jobs, check_k


def test_sums_that_could_overflow_are_refused():
    column = np.array([-(2**62), 2**62], dtype=np.int64)[:, None]
    with pytest.raises(DataError, match="could exceed 64-bit integers"):
        check_group_sums(column, np.zeros(2, dtype=np.intp))
    check_group_sums(column // 8, np.zeros(2, dtype=np.intp))


def test_real_numbers_have_sums_of_any_size():
    check_group_sums(np.array([[-1e300], [1e300]]), np.zeros(2, dtype=np.intp))


@pytest.mark.parametrize("digits", [400, 9000])
@pytest.mark.parametrize(
    "asked",
    [
        lambda huge: Plan.of(k=2, time_budget=huge),
        lambda huge: Plan.of(k=2, columns={"a": {"weight": huge}}),
        lambda huge: Plan.of(k=2, random_state=huge),
        lambda huge: Plan.of(k=-huge),
        lambda huge: check_k(huge, n_records=60),
    ],
    ids=["time budget", "weight", "seed", "k of a plan", "k of a table"],
)
def test_huge_whole_numbers_are_refused_in_a_short_message(asked, digits):
    with pytest.raises(
        ParameterError, match=r"; got (-?10{30,}\.\.\.|a number of thousands)"
    ) as said:
        asked(10**digits)
    assert len(str(said.value)) < 220


def test_more_threads_than_any_machine_has_are_as_many_as_it_has():
    assert 1 << 10 <= check_jobs(10**400) <= 1 << 20
    assert check_jobs(3) == 3


def test_the_number_of_records_is_said_once():
    with pytest.raises(ParameterError) as said:
        check_k(61, n_records=60)
    assert str(said.value) == (
        "k must be a whole number from 1 to 60, the number of records; got 61. Lower k or supply "
        "more records."
    )
