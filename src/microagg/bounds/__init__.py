"""How far from optimal a partition can be: numbers that no partition goes below."""

from microagg.bounds.lower import lower_bound, proves_optimal

__all__ = ["lower_bound", "proves_optimal"]
