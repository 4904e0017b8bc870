"""Clocks that can be stepped: what libfaketime makes of the one of this machine, for some processes."""

import os
import subprocess
import sys
import time
from pathlib import Path

import libfaketime

_LIBRARY = Path(libfaketime.__file__).parent / "vendor" / "libfaketime" / "src" / "libfaketime.so.1"
_PROBE = "import sys, time; sys.exit(time.time() < float(sys.argv[1]) + 1800)"


class Clock:
    """A clock that some processes go by.

    Attributes:
        environment: what these processes need in their environment.
        is_own: whether the clock can be stepped here.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.environment = {
            "LD_PRELOAD": str(_LIBRARY),
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_CACHE_DURATION": "1",
            # Waits go on as they are: a step moves the time of day alone, as it does in a kernel.
            "DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        self.is_own = self._can_be_stepped()
        if not self.is_own:
            self.environment = {}

    def step(self, seconds: int) -> None:
        """Show so many seconds more than this machine does, or less; 0 mends the clock."""
        new = self._file.with_suffix(".new")
        new.write_text(f"{seconds:+d}\n")
        new.replace(self._file)

    def _can_be_stepped(self) -> bool:
        self.step(3600)
        command = [sys.executable, "-c", _PROBE, str(time.time())]
        done = subprocess.run(command, env=os.environ | self.environment, capture_output=True, check=False)
        self.step(0)
        return done.returncode == 0
