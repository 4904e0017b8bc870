"""Pages about advice."""
