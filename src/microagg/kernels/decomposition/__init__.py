"""Groups that are dissolved or shrunk where that lowers the squared error."""
