"""Comparing methods and values of k before anything is released."""
