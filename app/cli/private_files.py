"""Files that only their owner can read."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def write_privately(path: Path, text: str) -> None:
    """Write a file, over the one that exists."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        # Others may be able to read a file that existed before.
        os.fchmod(file.fileno(), 0o600)
        file.write(text)


def create_privately(path: Path, text: str) -> None:
    """Create a file, unless it exists. Of several processes that do so at once, one wins; the others change nothing.

    It appears whole, and is there after a crash of the machine, too.
    """
    handle, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # for its owner only
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(part, path)
    finally:
        Path(part).unlink()
    _keep_names(path.parent)


def _keep_names(directory: Path) -> None:
    """Have the disk keep which files a directory has."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
