"""Local search: records that change groups while the squared error falls."""
