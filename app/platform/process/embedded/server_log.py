"""The log of the embedded PostgreSQL: one file, and the one before."""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

#: A log with more bytes is moved away; so many seconds pass between two looks at it.
LARGEST: Final = 10_000_000
PAUSE: Final = 60.0


def rotate(log: Path) -> None:
    """Move what the log has to `postgres.log.1`, if it is large.

    The server keeps the file open and appends to it, so it is copied and emptied. A line that is written meanwhile can
    be lost.
    """
    with suppress(OSError):  # the disk may be full; the log is looked at again
        if log.stat().st_size > LARGEST:
            shutil.copyfile(log, log.with_name(f"{log.name}.1"))
            log.with_name(f"{log.name}.1").chmod(0o600)
            os.truncate(log, 0)


@contextmanager
def kept_small(log: Path) -> Iterator[None]:
    """Rotate the log during the block, now and then."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(PAUSE):
            rotate(log)

    rotate(log)
    looking = threading.Thread(target=look, name="postgres.log", daemon=True)
    looking.start()
    try:
        yield
    finally:
        over.set()
        looking.join()
