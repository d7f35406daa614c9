"""Plan files that no steward writes: read in a moment, refused in one sentence."""

import os

import pytest

from microagg.core.errors import DataError, ParameterError
from microagg.plans.toml import read_plan

MANY = 100_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("na = " + "[" * 500 + "]" * 500, "nested more than 20 deep"),
        ("na = " + "{a = [" * 40 + "]}" * 40, "nested more than 20 deep"),
        ("k = " + "9" * 5000, "a number of 400 digits or more"),
        ("k = 0x" + "f_" * 5000 + "f", "a number of 400 digits or more"),
        (".".join(["a"] * MANY) + " = 1", "a key of more than 20 parts"),
        (" . ".join(["a"] * MANY) + " = 1", "a key of more than 20 parts"),
        (".".join(['"a"'] * MANY) + " = 1", "a key of more than 20 parts"),
        ("[" + ".".join(["a"] * MANY) + "]", "a key of more than 20 parts"),
        ("columns = {" + ".".join(["a"] * MANY) + " = 1}", "a key of more than 20 parts"),
        ('k = """' + "x" * MANY, "not well-formed TOML"),
    ],
)
def test_what_no_plan_needs_is_refused_before_it_is_parsed(tmp_path, text, said):
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(DataError, match=said) as refused:
        read_plan(path)
    assert len(str(refused.value)) < 300 + len(str(path))


def test_text_and_comments_may_hold_anything(tmp_path):
    path = tmp_path / "plan.toml"
    long = "1" * 5000 + "." * 50 + "[" * 50
    path.write_text(f"# {long}\nk = 5\nna = ['{long}', \"{long}\", '''{long}''']\n")
    assert read_plan(path) == {"k": 5, "na": [long, long, long]}


def test_a_plan_of_many_megabytes_is_not_read(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text("k = 5\n" + "#" * (5 << 20))
    with pytest.raises(ParameterError, match="larger than 4 MiB"):
        read_plan(path)


def test_a_pipe_is_no_plan(tmp_path):
    path = tmp_path / "plan.toml"
    os.mkfifo(path)
    with pytest.raises(ParameterError, match="a named pipe, not a regular file"):
        read_plan(path)
