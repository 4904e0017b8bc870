"""A table, counted as its plan asks: each attribute with the label, pairs of attributes, combinations of values."""
