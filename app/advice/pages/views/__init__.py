"""What the pages about advice show."""
