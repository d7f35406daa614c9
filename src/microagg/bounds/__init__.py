"""How far from optimal a partition can be: numbers that no partition goes below."""

from microagg.bounds.lower import bound_on, gap, lower_bound, proves_optimal

__all__ = ["bound_on", "gap", "lower_bound", "proves_optimal"]
