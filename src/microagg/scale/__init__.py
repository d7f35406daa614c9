"""Datasets beyond memory: passes over files, regions that are grouped apart, and a work folder."""
