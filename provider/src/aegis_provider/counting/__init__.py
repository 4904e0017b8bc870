"""Counts of values and masked values against the label, from a table and its plan."""
