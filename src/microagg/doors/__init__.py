"""Functions that take a table, a file or a dataset, and pass it on to what can handle it."""
