"""The records nearest to, or farthest from, a point: exact searches among boxes of records."""
