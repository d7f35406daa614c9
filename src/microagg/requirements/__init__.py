"""What every released combination must satisfy: one requirement per file."""
