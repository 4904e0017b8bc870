"""The version of this build."""

from functools import cache
from importlib.metadata import version
from typing import Final

#: The installed distribution.
DISTRIBUTION: Final = "aegis-server"


@cache
def build_version() -> str:
    """The version of the installed service."""
    return version(DISTRIBUTION)
