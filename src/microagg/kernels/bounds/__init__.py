"""Lower bounds on the error of every partition: from neighbours, and from column generation."""
