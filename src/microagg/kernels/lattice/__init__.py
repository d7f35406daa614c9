"""The nearest point of a lattice within linear limits."""
