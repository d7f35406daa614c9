"""Long work comes back often, and loses nothing on the way."""

import numpy as np

from microagg.core import progress


def test_parts_follow_the_time_they_take(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    items, parts = np.arange(5000), []
    for part in progress.paced(items):
        now[0] += len(part) * (0.001 if part[0] < 2000 else 0.02)  # harder from 2000 on
        parts.append(part)
    assert (np.concatenate(parts) == items).all()
    easy = [len(part) for part in parts if part[0] < 1500]
    hard = [len(part) for part in parts if part[0] > 2200]
    assert 95 <= max(easy) <= 101  # a tenth of a second
    assert 1 <= max(hard) <= 6


def test_no_items_are_no_parts():
    assert list(progress.paced(np.arange(0))) == []
