"""The files of a dataset: which they are, and how they are read and written in parts."""
