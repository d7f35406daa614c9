"""What an intruder can learn from a release: one attack per file."""
