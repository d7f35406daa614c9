"""Regions and parts so small that a few thousand records are a dataset."""

import pytest

from microagg.scale import protect
from microagg.scale.checks import checking
from microagg.scale.sources import spans
from microagg.scale.steps import names


@pytest.fixture(autouse=True)
def small_regions(monkeypatch):
    monkeypatch.setattr(protect, "REGION_RECORDS", 250)
    monkeypatch.setattr(spans, "PART_ROWS", 1_000)
    monkeypatch.setattr(checking, "BUCKET_ROWS", 400)
    monkeypatch.setattr(names, "_BUCKET", 900)
