"""Records counted on the bytes, against the csv module field by field."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.files import record_count
from microagg.files.record_count import count_well_formed_records


def slow_count(text, width):
    """Number of records if the csv module finds all `width` wide, None otherwise."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return None
    fits = all(len(row) == width or (not row and width == 1) for row in rows)
    return len(rows) if fits else None


@given(st.text('",\n\ra', max_size=14), st.integers(1, 3), st.integers(1, 9))
def test_what_is_counted_is_right(text, width, chunk):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_count, "_CHUNK", chunk)
        counted = count_well_formed_records(text.encode(), ",", width)
    assert counted in (None, slow_count(text, width))  # those below are counted


entries = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=4)


@given(
    st.lists(st.tuples(entries, entries), max_size=5),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.integers(1, 9),
)
def test_what_is_well_formed_is_counted(rows, end, quoting, chunk):
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator=end, quoting=quoting, delimiter=";").writerows(rows)
    text = buffer.getvalue().encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_count, "_CHUNK", chunk)
        assert count_well_formed_records(text, ";", 2) == len(rows)
        if rows:
            assert count_well_formed_records(text.removesuffix(end.encode()), ";", 2) == len(rows)
            assert count_well_formed_records(text, ";", 3) is None


@pytest.mark.parametrize(
    "text", ['a"b,c\n', '"a"b,c\n', '"a,b\n', 'a,"b" \n', ' "a",b\n', "a,b\rc,d\n", "a,b\n\nc,d\n"]
)
def test_what_is_irregular_is_left_to_a_slower_judge(text):
    assert count_well_formed_records(text.encode(), ",", 2) is None
