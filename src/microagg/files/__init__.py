"""Table files: one reader and one writer per format, CSV dialects, atomic writing."""
