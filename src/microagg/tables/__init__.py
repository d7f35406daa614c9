"""The one door for tables: what comes in as a file or a DataFrame goes out as the same kind."""
