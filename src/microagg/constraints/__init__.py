"""Linear constraints that every release satisfies: totals that add up, values within bounds."""
