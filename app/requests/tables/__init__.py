"""Tables of data requests."""
