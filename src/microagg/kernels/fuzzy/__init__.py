"""Memberships of records in fuzzy clusters, and draws from them."""
