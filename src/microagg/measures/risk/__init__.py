"""What an intruder gets out of a release: one attack per file."""
