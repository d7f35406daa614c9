"""Files in and out: formats, dialects, atomic writing."""
