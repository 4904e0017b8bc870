"""The free space on the disk of the database."""

import shutil
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Final

import structlog

_log = structlog.get_logger(__name__)

#: Seconds for which a check is valid.
_FRESH: Final = 1.0


class Disk:
    """A disk with a reserve of free space, since PostgreSQL stops completely on a full disk.

    Args:
        directory: a directory on it.
        reserve: the bytes that must stay free.
        clock: the time in seconds.
    """

    def __init__(self, directory: Path, reserve: int, clock: Callable[[], float] = monotonic) -> None:
        self._directory, self._reserve, self._clock = directory, reserve, clock
        self._has_room, self._looked = True, float("-inf")

    @property
    def has_room(self) -> bool:
        """Whether more may be stored."""
        if self._clock() - self._looked <= _FRESH:
            return self._has_room
        self._looked = self._clock()
        try:
            has_room = shutil.disk_usage(self._directory).free >= self._reserve
        except OSError as error:
            _log.warning("the disk cannot be checked", error=type(error).__name__)
            has_room = True
        if has_room != self._has_room:
            _log.warning("the disk has room again" if has_room else "the disk is almost full: nothing more is stored")
        self._has_room = has_room
        return has_room
