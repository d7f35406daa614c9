"""The papers' tables next to ours, one file per paper or question."""
