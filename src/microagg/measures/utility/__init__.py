"""What a release lost: one loss per file."""
