"""Exact searches for the records nearest to, or farthest from, a point."""
