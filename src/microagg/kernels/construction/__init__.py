"""Groups formed from scratch: around far records, by halving, from a spanning tree."""
