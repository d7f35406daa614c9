"""The search behind `auto` and other methods that improve groups, one file per part."""
