"""How safe and how useful a protected dataset is, from merged sums and a sample."""
