"""The paths, one file for each kind of thing."""
