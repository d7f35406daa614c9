"""Memberships of records in fuzzy clusters, and draws by them."""
