"""Which build this is."""

from functools import cache
from importlib.metadata import version
from typing import Final

#: What is installed, and has the version.
DISTRIBUTION: Final = "aegis-server"


@cache
def build_version() -> str:
    """The version of the installed service."""
    return version(DISTRIBUTION)
