"""Groups formed bottom-up: clusters that merge as long as their sizes allow."""
