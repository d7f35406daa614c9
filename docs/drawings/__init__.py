"""A drawing for the page of every method, made by the method itself."""
