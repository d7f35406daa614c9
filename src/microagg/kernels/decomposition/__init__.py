"""Dissolving and shrinking groups where that lowers the squared error."""
