"""The versions in use: results are the same bytes only where these are the same."""

from collections.abc import Mapping

import microagg
from microagg.release.facts import library_versions


def versions_here() -> dict[str, str]:
    """Return the versions of microagg and its libraries in this process."""
    return {"microagg": microagg.__version__, **library_versions()}


def difference(own: Mapping[str, str], other: Mapping[str, str]) -> str:
    """Return the first difference between the versions of a run and those of a worker, if any.

    >>> difference({"numpy": "2.1", "polars": "1.9"}, {"numpy": "2.0"})
    'numpy 2.0 instead of 2.1'
    """
    both = (name for name in own if name in other)
    return next((f"{n} {other[n]} instead of {own[n]}" for n in both if own[n] != other[n]), "")
