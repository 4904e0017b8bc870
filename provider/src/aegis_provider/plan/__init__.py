"""The plan file: its content (`model`), strict reading (`reading`, `attributes`) and writing (`writing`)."""
