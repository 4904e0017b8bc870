"""What the system knows of a process by its id."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path


def program_of(pid: int) -> str:
    """The file name of the program that a process was started with; empty if none runs under this id.

    A zombie does not run. It still answers to `kill(pid, 0)`, for ever where nothing reaps orphans, as in
    many containers.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            command_line = Path(f"/proc/{pid}/cmdline").read_bytes()  # a zombie's is empty
            return Path(os.fsdecode(command_line.split(b"\0")[0])).name
        return ""
    listed = subprocess.run(  # noqa: S603 - our own command line
        ["/bin/ps", "-o", "comm=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return Path(listed.stdout.strip()).name
