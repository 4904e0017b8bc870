"""The documents, and what writes into them what their commands print."""
