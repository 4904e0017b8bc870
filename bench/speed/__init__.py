"""How fast Aegis is, and how time and memory grow with the amount of work."""
