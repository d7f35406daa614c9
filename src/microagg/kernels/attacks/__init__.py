"""What an intruder would try: record linkage by distance, by agreement and by ranges."""
