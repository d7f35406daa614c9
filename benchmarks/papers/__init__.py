"""The papers' tables beside ours, one file per paper or question."""
