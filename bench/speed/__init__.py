"""How fast it is, and how time and memory grow with what there is to do."""
