"""What other kernels build on: distances, sums of groups, sorting, rounding."""
