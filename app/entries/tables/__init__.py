"""Tables of entries."""
