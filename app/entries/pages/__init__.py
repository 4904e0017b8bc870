"""Pages about entries."""
