"""One script per question; peers and references are measured in the same run."""
