"""The mathematics: from evidence to a recommendation. Pure: no I/O, no clock, no global random state."""

MODEL_VERSION = "9"
"""Changes whenever an answer can change. References and advice of another version are computed again."""
