"""Tables to try the app with: patients, visits of several records each, and firms with totals."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_SEED = 1


@dataclass(frozen=True)
class Sample:
    """A sample table: what it is, and how it is made."""

    summary: str
    make: Callable[[], "pl.DataFrame"]


def sample_path(name: str, folder: Path) -> Path:
    """Write a sample as a CSV file to a folder, unless it is there, and return its path."""
    place = folder / "samples" / f"{name}.csv"
    if not place.exists():
        place.parent.mkdir(mode=0o700, exist_ok=True)
        SAMPLES[name].make().write_csv(place)
    return place


def _patients() -> "pl.DataFrame":
    from microagg.tables.samples import diabetes

    return diabetes()


def _visits() -> "pl.DataFrame":
    """Return hospital visits: several of each patient, categories, a date, missing values."""
    import numpy as np
    import polars as pl

    draw = np.random.default_rng(_SEED)
    n_patients, n = 400, 1200
    who = draw.integers(n_patients, size=n)
    born = draw.integers(1930, 2015, n_patients)
    sex = draw.choice(["female", "male"], n_patients)
    region = draw.choice(["north", "east", "south", "west"], n_patients, p=[0.4, 0.3, 0.2, 0.1])
    arrived = np.datetime64("2024-01-01") + draw.integers(0, 366, n)
    days = draw.geometric(0.25, n)
    cost = np.round(draw.lognormal(7, 0.7, n), 2)
    gaps = draw.random(n) < 0.02
    severity = draw.choice(["mild", "moderate", "severe"], n, p=[0.6, 0.3, 0.1])
    diagnosis = draw.choice(["heart", "lung", "bone", "skin", "other"], n)
    return pl.DataFrame(
        {
            "patient_id": [f"P{number + 1000}" for number in who],
            "born": born[who],
            "sex": sex[who],
            "region": region[who],
            "arrived": arrived,
            "left": arrived + days,
            "severity": severity,
            "cost": [None if gap else c for gap, c in zip(gaps, cost, strict=True)],
            "diagnosis": diagnosis,
        }
    )


def _firms() -> "pl.DataFrame":
    """Return firms: turnover that is the sum of two parts, weights, a region."""
    import numpy as np
    import polars as pl

    draw = np.random.default_rng(_SEED)
    n = 800
    home = np.rint(draw.lognormal(12, 1.2, n)).astype(int)
    abroad = np.rint(home * draw.random(n) * 0.6).astype(int)
    return pl.DataFrame(
        {
            "firm_id": np.arange(n) + 50001,
            "region": draw.choice(["coast", "hills", "plain"], n, p=[0.5, 0.3, 0.2]),
            "sector": draw.choice(["food", "metal", "services", "textiles", "wood"], n),
            "employees": np.maximum(1, np.rint(home / 90_000 * draw.lognormal(0, 0.4, n))).astype(
                int
            ),
            "sales_home": home,
            "sales_abroad": abroad,
            "turnover": home + abroad,
            "weight": np.round(draw.uniform(1, 8, n), 1),
        }
    )


SAMPLES: dict[str, Sample] = {
    "patients": Sample(
        "442 diabetes patients, numbers only: the quickest way to see what k does.", _patients
    ),
    "visits": Sample(
        "1,200 visits of 400 patients (made up): units, categories to order, dates, gaps.", _visits
    ),
    "firms": Sample(
        "800 firms (made up): totals that add up, strata, weights, a few large contributors.",
        _firms,
    ),
}
