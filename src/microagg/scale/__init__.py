"""Datasets beyond memory: passes over files, regions that are grouped apart, and a work folder."""

from microagg.core.errors import ParameterError

try:
    import pyarrow  # noqa: F401
except ImportError:
    raise ParameterError(
        "datasets need the package pyarrow. Install it with pip install 'microagg[datasets]'."
    ) from None
