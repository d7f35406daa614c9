"""From a table and a plan to a release, stage by stage."""
