"""Clocks that can be stepped for some processes, by a few lines of C that are preloaded before the C library."""

import os
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

#: The environment variables that preload a clock and name its file.
VARIABLES = ("LD_PRELOAD", "AHEAD_FILE")

_SOURCE = Path(__file__).with_suffix(".c")
_PROBE = "import sys, time; sys.exit(time.time() < float(sys.argv[1]) + 1800)"


class Clock:
    """A clock for some processes.

    Attributes:
        environment: the environment variables of these processes.
        is_own: whether the clock can be stepped; it cannot without a C compiler, or if a process does not follow it.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.step(0)
        self.environment = dict(zip(VARIABLES, (str(_library(file.parent)), str(file)), strict=True))
        self.is_own = self._can_be_stepped()
        if not self.is_own:
            self.environment = {}

    def step(self, seconds: int) -> None:
        """Set the difference to this machine's clock in seconds; 0 ends the fault."""
        with self._file.open("r+b" if self._file.exists() else "wb") as mapped:
            mapped.write(struct.pack("=q", seconds))

    def _can_be_stepped(self) -> bool:
        self.step(3600)
        command = [sys.executable, "-c", _PROBE, str(time.time())]
        done = subprocess.run(command, env=os.environ | self.environment, capture_output=True, check=False)
        self.step(0)
        return done.returncode == 0


def _library(directory: Path) -> Path:
    """The path of the compiled library, which does not exist if compiling fails."""
    library, compiler = directory / "clock.so", shutil.which("cc")
    if compiler is not None and not library.exists():
        command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(_SOURCE)]
        subprocess.run(command, capture_output=True, check=False)
    return library
