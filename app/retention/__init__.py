"""What is kept only for some time."""
