"""Attacks of an intruder: record linkage by distance, by agreement and by ranges."""
