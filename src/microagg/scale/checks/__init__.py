"""Judges of finished files, apart from the passes that wrote them."""
