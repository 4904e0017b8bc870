"""Tables of keys and sessions."""
