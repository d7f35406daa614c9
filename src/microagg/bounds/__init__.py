"""How far from optimal a partition can be: numbers that no partition goes below."""

from microagg.bounds.lower_bound import lower_bound

__all__ = ["lower_bound"]
