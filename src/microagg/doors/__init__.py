"""Functions that take a table, a file or a dataset, and ask those who know it."""
