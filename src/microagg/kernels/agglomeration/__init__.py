"""Groups formed from the bottom up: clusters that merge while their sizes allow it."""
