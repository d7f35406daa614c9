"""Plain loops on arrays, compiled on first use: no classes, no tables, no Python errors.

One folder for each family: `basics` for what the others build on, `neighbours` for exact searches
among boxes of records; `construction`, `agglomeration` and `decomposition` for forming groups,
`search` for improving them; `paths` for sequences and their cuts; `flow` for assignments at least
cost; `fuzzy` for memberships; `bounds` for what no partition can go below; `attacks` for risk.
"""
