"""What no partition can go below: bounds from neighbours and from column generation."""
