"""Where a run keeps what it needs: its private work folder, and file systems at URLs."""
