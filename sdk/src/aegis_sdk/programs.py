"""The command `aegis-server`, whose program the service's distribution registers.

It is here, since installers such as pipx give people the commands of the distribution that they name, and no other's.
It imports little, since the service's child processes import it, too.
"""

import sys
from typing import Final

PROGRAMS: Final = "aegis.programs"
"""The entry point group in which the service registers its program."""

INSTALL: Final = "pip install 'aegis-masking[server]'"


def serve() -> None:
    """Run the service's command, or say how to install it."""
    from importlib.metadata import entry_points  # noqa: PLC0415 -- see above

    for program in entry_points(group=PROGRAMS, name="server"):
        program.load()()
        return
    sys.exit(f"aegis-server: the service is not installed: {INSTALL}")
