"""Panics of polars: one sentence for the user, and nothing of Rust on standard error."""

import io
import os
import random
import re
import threading

import polars as pl
import pyarrow.parquet
import pytest

from microagg.core.errors import DataError
from microagg.files.columnar import ArrowReader, ParquetReader
from microagg.files.formats import open_table
from microagg.files.panics import without_panic_lines

REPORT = b"""
thread '<unnamed>' (4711) panicked at crates/polars-utils/src/range.rs:10:9:
range end index 4 out of range for slice of length 3: Sentinella
and a second line
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""
TRACED = b"""
thread 'async-executor-1' panicked at src/mod.rs:154:18:
called `Result::unwrap()` on an `Err` value
stack backtrace:
   0: __rustc::rust_begin_unwind
   1: core::panicking::panic_fmt
note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.
"""
UNENDED = b"\nthread 'main' panicked at src/lib.rs:1:1:\nSentinella\n"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (b"", ""),
        (b"only this\n", "only this\n"),
        (REPORT, ""),
        (TRACED, ""),
        (b"before\n" + REPORT + b"between\n" + TRACED + b"after\n", "before\nbetween\nafter\n"),
        (REPORT + TRACED + REPORT, ""),
        (b"before\n" + UNENDED, "before\n"),
        (UNENDED + REPORT + b"after\n", "after\n"),
    ],
)
def test_only_reports_of_panics_are_kept_back(capfd, written, shown):
    with without_panic_lines():
        os.write(2, written)
        assert capfd.readouterr().err == ""
    assert capfd.readouterr().err == shown


def test_what_threads_write_meanwhile_is_not_lost(capfd):
    inside, leave = threading.Barrier(3), threading.Event()

    def read(word):
        with without_panic_lines():
            inside.wait()
            os.write(2, b"%s\n" % word + REPORT)
            leave.wait()

    threads = [threading.Thread(target=read, args=(word,)) for word in (b"one", b"two")]
    for thread in threads:
        thread.start()
    inside.wait()
    leave.set()
    for thread in threads:
        thread.join()
    assert sorted(capfd.readouterr().err.split()) == ["one", "two"]
    os.write(2, b"later\n")
    assert capfd.readouterr().err == "later\n"


def test_a_closed_standard_error_is_no_error():
    kept = os.dup(2)
    os.close(2)
    try:
        with without_panic_lines():
            pass
    finally:
        os.dup2(kept, 2)
        os.close(kept)


TABLE = pl.DataFrame(
    {
        "a": list(range(50)),
        "b": [1.5 * x for x in range(50)],
        "c": [f"Sentinella {x % 7}" for x in range(50)],
        "d": [None if x % 5 == 0 else x % 2 == 0 for x in range(50)],
        "e": [[x, x] for x in range(50)],
    }
).with_columns(pl.col("c").cast(pl.Categorical).alias("f"))


def undamaged(kind, chance):
    buffer = io.BytesIO()
    if kind == "polars.parquet":
        TABLE.write_parquet(buffer, compression=chance.choice(["zstd", "snappy", "uncompressed"]))
    elif kind == "pyarrow.parquet":
        pages = chance.choice(["1.0", "2.0"])
        pyarrow.parquet.write_table(TABLE.to_arrow(), buffer, data_page_version=pages)
    else:
        TABLE.write_ipc(buffer, compression=chance.choice(["zstd", "lz4", "uncompressed"]))
    return buffer.getvalue()


def damaged(data, chance):
    """Bytes that were cut, or changed in a few places, between the magic numbers."""
    if chance.random() < 0.15:
        return data[: chance.randrange(8, len(data) - 12)] + data[-12:]
    changed = bytearray(data)
    first = chance.choice([8, max(8, len(data) - 800)])
    for _ in range(chance.choice([1, 1, 2, 5])):
        place = chance.randrange(first, len(data) - 8)
        changed[place] = chance.choice([chance.randrange(256), 255, 0, 127])
    return bytes(changed)


ABORTS = pytest.mark.skipif(
    pl.__version__.startswith("1."), reason="this version of polars aborts on some Arrow files"
)


@pytest.mark.parametrize(
    "kind",
    ["polars.parquet", "pyarrow.parquet", pytest.param("polars.arrow", marks=ABORTS)],
)
def test_damaged_files_get_one_sentence_and_no_other_line(tmp_path, capfd, kind):
    chance = random.Random(1)
    path = tmp_path / f"t.{kind.partition('.')[2]}"
    sentences = set()
    for _ in range(150):
        path.write_bytes(damaged(undamaged(kind, chance), chance))
        try:
            open_table(str(path)).table()
        except DataError as refused:
            sentences.add(str(refused))
    assert capfd.readouterr().err == ""
    name = re.escape(repr(str(path)))
    assert len(sentences) > 0
    for sentence in sentences:
        assert re.match(f"{name} (is a damaged|is compressed and|has columns but)", sentence)


@pytest.mark.parametrize(
    ("suffix", "reader"), [(".parquet", ParquetReader), (".arrow", ArrowReader)]
)
@pytest.mark.parametrize("place", ["_read_names", "_read_table"])
def test_a_panic_is_a_damaged_file(tmp_path, capfd, monkeypatch, suffix, reader, place):
    def panic(*_):
        os.write(2, REPORT)
        raise pl.exceptions.PanicException("Sentinella")

    path = tmp_path / f"t{suffix}"
    (TABLE.write_parquet if suffix == ".parquet" else TABLE.write_ipc)(path)
    monkeypatch.setattr(reader, place, panic)
    with pytest.raises(DataError, match=r"is a damaged (Parquet|Arrow) file\.$"):
        open_table(str(path)).table()
    assert capfd.readouterr().err == ""


def test_a_lack_of_memory_is_not_taken_for_damage(tmp_path, monkeypatch):
    def lack(*_args, **_options):
        raise MemoryError

    path = tmp_path / "t.parquet"
    TABLE.write_parquet(path)
    monkeypatch.setattr(ParquetReader, "_read_table", lack)
    with pytest.raises(MemoryError):
        open_table(str(path)).table()
    text = tmp_path / "t.csv"
    text.write_text("a,b\n1,2\n")
    monkeypatch.setattr(pl, "read_csv", lack)
    with pytest.raises(MemoryError):
        open_table(str(text)).table()
