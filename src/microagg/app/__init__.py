"""The browser app: from a file to a release, with the command that does the same (extra `app`)."""
