"""What an entry gives away: cells that follow from all its tables together."""
