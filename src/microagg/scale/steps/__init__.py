"""The passes that protect a dataset, from copying its files to writing the released ones."""
