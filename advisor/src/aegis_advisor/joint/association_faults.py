"""Checks of what pairs tell of the label against what is known of each attribute and of the pair."""
