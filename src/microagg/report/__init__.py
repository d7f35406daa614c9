"""The report of a release: one HTML page, made from aggregates only."""
