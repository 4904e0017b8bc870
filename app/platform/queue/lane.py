"""The lanes of workers: small jobs have their own, so that they never wait for large ones."""

from enum import StrEnum


class Lane(StrEnum):
    """A lane. Every worker has a child process per lane."""

    LIGHT = "light"
    HEAVY = "heavy"


class WrongLaneError(Exception):
    """A job of the light lane is too large for it."""
