"""What the pages about entries show."""
