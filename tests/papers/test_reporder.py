"""Published figures of RepOrdMic: the best of 200 k-means starts."""

import pytest

from microagg import information_loss
from microagg.partitions import RepOrdMic

pytestmark = pytest.mark.slow

# repeated-ordering-2020, and how far above ours may be: the best of 200 depends on the seeds.
PRINTED = {
    "tarragona": ({3: 14.80, 5: 21.13, 10: 31.13}, 1.03),
    "census": ({3: 5.01, 5: 7.94, 10: 12.74}, 1.01),
    "eia": ({3: 0.369, 5: 0.75, 10: 1.99}, 1.01),
}
# Most cells are reached by the first few of the 200 starts, and a test need not try the others.
STARTS = {("census", 5): 40, ("census", 10): 200, ("eia", 3): 200}
CELLS = [
    (name, k, il * slack, STARTS.get((name, k), 20))
    for name, (row, slack) in PRINTED.items()
    for k, il in row.items()
]


@pytest.mark.parametrize(("name", "k", "limit", "n_starts"), CELLS)
def test_best_of_at_most_200_starts(standardised, name, k, limit, n_starts):
    X = standardised(name)
    model = RepOrdMic(k=k, n_starts=n_starts, random_state=0, n_jobs=1).fit(X)
    assert information_loss(X, model.labels_) <= limit
