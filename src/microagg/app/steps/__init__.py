"""The steps of the page, one file each: what it shows, and what can be done there."""
