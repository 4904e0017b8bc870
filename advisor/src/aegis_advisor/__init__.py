"""The mathematics: evidence in, a recommendation out. Pure: no I/O, no clock, no global random state."""

MODEL_VERSION = "3"
"""Changes with anything that changes an answer: references and advice of another version are computed anew."""
