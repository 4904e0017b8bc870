"""What the pages about data requests show."""
