"""Records assigned to centres at least cost, with bounds on how many each centre takes."""
