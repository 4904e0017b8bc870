"""Creating, recognising and ending keys and sessions."""
