"""What a run leaves: the finished files, their manifest and reports, named all at once."""
