"""The names of lines in the plot of growth can be read: none is written on another."""

from itertools import combinations

import pytest
from matplotlib import pyplot as plt

from docs.builder.staging import DOCS
from docs.builder.tables import tables
from docs.drawings import of_benchmarks

pytestmark = pytest.mark.slow


def test_no_name_is_written_on_another():
    text = (DOCS / "benchmarks.md").read_text("utf-8")
    figure = of_benchmarks.growth(tables(text), text)
    figure.canvas.draw()
    names = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(names) == 6
    assert not [pair for pair in combinations(names, 2) if pair[0].overlaps(pair[1])]
    plt.close(figure)
