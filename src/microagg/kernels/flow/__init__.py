"""The cheapest assignment of records to centres of limited sizes."""
