"""Annealing: groups of any size that wander under rules, and cool down."""
