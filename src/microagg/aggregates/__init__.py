"""Groups -> released values."""
