"""Pages about data requests."""
