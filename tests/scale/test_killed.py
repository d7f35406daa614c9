"""A run that is killed and resumed gives the bytes of an undisturbed one, and no half of them."""

import os
import random
import signal

import pytest

from tests.scale.datasets import digests
from tests.scale.killing import begun, dataset, killed_by_steps

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here"),
    pytest.mark.slow,
]


def test_killed_and_resumed(tmp_path):
    source = dataset(tmp_path)
    (tmp_path / "first").mkdir()
    assert begun(source, tmp_path / "first" / "out").wait() == 0
    chance = random.Random(1)
    (tmp_path / "second").mkdir()
    steps = [chance.randint(3, 60) for _ in range(5)]
    assert killed_by_steps(source, tmp_path / "second", steps) >= 2
    assert digests(tmp_path / "first" / "out") == digests(tmp_path / "second" / "out")
    assert sorted(os.listdir(tmp_path / "second")) == ["out", "out.manifest.json"]
