"""Groups formed from scratch: around distant records, by halving, from a spanning tree."""
