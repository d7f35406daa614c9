"""The search behind `auto` and other methods that improve groups, one file for each part of it."""
