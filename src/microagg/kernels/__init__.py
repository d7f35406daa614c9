"""Plain loops on arrays, compiled on first use: no classes, no tables."""
