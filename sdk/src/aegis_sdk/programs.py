"""The command `aegis-server`, whose program the service's distribution registers, and how parts are installed.

It is here, since installers such as pipx give people the commands of the distribution that they name, and no other's.
It imports little, since the service's child processes import it, too.
"""

import sys
from typing import Final

PROGRAMS: Final = "aegis.programs"
"""The entry point group in which the service registers its program."""


def how_to_install(requirement: str) -> str:
    """What to do to have a part that is missing, such as `aegis-masking[server]`.

    It is no command, since on an index that does not have our distributions, their names may be anybody's.
    """
    return f"install '{requirement}' from where you got Aegis"


def serve() -> None:
    """Run the service's command, or say how to install it."""
    from importlib.metadata import entry_points  # noqa: PLC0415 -- see above

    for program in entry_points(group=PROGRAMS, name="server"):
        program.load()()
        return
    sys.exit(f"aegis-server: the service is not installed: {how_to_install('aegis-masking[server]')}")
