"""How do time and loss of kmeans grow with the number of records?"""

import numpy as np

from benchmarks.harness import publish, seconds
from microagg import information_loss
from microagg.partitions import MDAV, KMeansMicro

K = 5
COLUMNS = 10


def main() -> None:
    rng = np.random.default_rng(0)
    KMeansMicro(k=K).fit(rng.normal(size=(500, COLUMNS)))
    rows = []
    for n in (5_000, 20_000, 80_000):
        X = rng.normal(size=(n, COLUMNS))
        model, mdav = KMeansMicro(k=K), MDAV(k=K)
        time, mdav_time = (
            seconds(lambda X=X, m=model: m.fit(X)),
            seconds(lambda X=X, m=mdav: m.fit(X)),
        )
        losses = (information_loss(X, m.labels_) for m in (model, mdav))
        rows.append((n, time, mdav_time, *losses))
    publish(
        "kmeans_speed",
        f"kmeans on n x {COLUMNS} normal records, k = {K}",
        ("n", "kmeans (s)", "mdav (s)", "loss of kmeans (%)", "loss of mdav (%)"),
        rows,
    )


if __name__ == "__main__":
    main()
