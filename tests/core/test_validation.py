import numpy as np
import pytest

from microagg.core.errors import DataError
from microagg.core.validation import check_group_sums


def test_sums_that_could_overflow_are_refused():
    column = np.array([-(2**62), 2**62], dtype=np.int64)[:, None]
    with pytest.raises(DataError, match="could exceed 64-bit integers"):
        check_group_sums(column, np.zeros(2, dtype=np.intp))
    check_group_sums(column // 8, np.zeros(2, dtype=np.intp))


def test_real_numbers_have_sums_of_any_size():
    check_group_sums(np.array([[-1e300], [1e300]]), np.zeros(2, dtype=np.intp))
