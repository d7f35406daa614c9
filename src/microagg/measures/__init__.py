"""How safe a protected table is, and how useful it still is."""
