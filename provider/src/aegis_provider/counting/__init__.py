"""Counting of a table by its plan: each attribute with the label, pairs of attributes, combinations of values."""
