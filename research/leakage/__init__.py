"""How much of the hidden counts the coarse view of answers gives away, measured by attack."""
