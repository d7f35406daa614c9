"""Records in a sequence: walks and tours through all of them, and the optimal cut."""
