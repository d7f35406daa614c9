"""Rules: conditions that the members of every group must meet."""
