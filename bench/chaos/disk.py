"""A small separate disk for the database, which can be filled."""

import contextlib
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

#: The size of the disk in megabytes: enough for the database of a thousand faults.
_SIZE = 1024
_FILLER = "filler"


@dataclass(frozen=True)
class Disk:
    """A disk.

    Attributes:
        place: its mount point.
        is_own: whether it is a separate disk; without root it is not, and is never filled.
    """

    place: Path
    is_own: bool

    def fill(self) -> None:
        """Leave no byte."""
        with contextlib.suppress(OSError), (self.place / _FILLER).open("wb", buffering=0) as filler:
            for size in (1 << 20, 1 << 12, 1):  # whole megabytes first, then the rest
                with contextlib.suppress(OSError):
                    while filler.write(bytes(size)) == size:
                        pass

    def clear(self) -> None:
        """Give the space back."""
        (self.place / _FILLER).unlink(missing_ok=True)


@contextmanager
def disk(place: Path) -> Iterator[Disk]:
    """A disk in memory at a place during the block, if this user may mount one."""
    place.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}m,mode=755", "tmpfs", str(place)]
    is_own = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        yield Disk(place, is_own)
    finally:
        if is_own:
            subprocess.run(["umount", "--lazy", str(place)], check=True)
