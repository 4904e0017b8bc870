"""The mathematics: from evidence to a recommendation. Pure: no I/O, no clock, no global random state."""

MODEL_VERSION = "10"
"""Raise it whenever an answer can change: references and advice of other versions are computed again."""
