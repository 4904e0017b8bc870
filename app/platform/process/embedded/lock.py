"""The lock that allows one launcher for each data directory; the server inherits it."""

import contextlib
import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from app.platform.process.embedded.places import EmbeddedPostgresError

_NAME = "launcher.lock"
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Launch:
    """The content of a launcher's lock: its process id, and the socket's directory once it is chosen."""

    pid: int
    socket: str | None = None


class LauncherLock:
    """The exclusive right to run a server in `home`.

    Every process of the server inherits the locked file. The lock is therefore free exactly when launcher and server
    have both ended, in whatever way, and does not depend on process ids.

    Args:
        home: the directory of the server's files.
        patience: seconds that a server may take to stop when asked.
        evict: asks a server without a launcher to stop.
    """

    def __init__(self, home: Path, *, patience: float, evict: Callable[[], None]) -> None:
        self.home = home
        self.previous: Launch | None = None
        self._patience = patience
        self._evict = evict
        self._file = -1

    def __enter__(self) -> Self:
        """Take the lock; then `previous` is what a launcher left if it did not stop properly, otherwise None."""
        self._file = os.open(self.home / _NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            self._acquire()
        except BaseException:
            os.close(self._file)
            raise
        self.previous = _read(self._file)
        self.tell(Launch(os.getpid()))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Free the lock. The file stays: if it were removed, two launchers could lock two files of the same name."""
        os.ftruncate(self._file, 0)
        os.close(self._file)

    def fileno(self) -> int:
        """The file descriptor that the server must inherit."""
        return self._file

    def tell(self, launch: Launch) -> None:
        """Replace the content of the lock, which others read."""
        content = json.dumps(asdict(launch)).encode()
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, content, 0)

    def _acquire(self) -> None:
        """Take the lock. Wait only for a server whose launcher has ended; on macOS, that server must be stopped."""
        deadline = time.monotonic() + self._patience
        while not _try_lock(self._file, fcntl.LOCK_EX):
            holder = _read(self._file)
            if holder is not None and program_of(holder.pid):
                raise EmbeddedPostgresError(
                    f"the database in {self.home} is in use by process {holder.pid}: "
                    "stop it, or choose another data directory"
                )
            if time.monotonic() > deadline:
                raise EmbeddedPostgresError(
                    f"the database in {self.home} is held by a server whose launcher has ended: "
                    f"stop the postgres process in {self.home / 'cluster' / 'postmaster.pid'}"
                )
            self._evict()
            time.sleep(_POLL_SECONDS)


def current_launch(home: Path) -> Launch | None:
    """What the launcher that holds the lock of `home` wrote in it, None if the lock is free."""
    try:
        file = os.open(home / _NAME, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        return None if _try_lock(file, fcntl.LOCK_SH) else _read(file)
    finally:
        os.close(file)


def program_of(pid: int) -> str:
    """The file name of the program that a process was started with; empty if no process runs under this id.

    A zombie does not run, although `kill(pid, 0)` succeeds for it. In many containers nothing reaps orphans, so zombies
    stay for ever.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            command_line = Path(f"/proc/{pid}/cmdline").read_bytes()  # empty for a zombie
            return Path(os.fsdecode(command_line.split(b"\0")[0])).name
        return ""
    listed = subprocess.run(  # noqa: S603 - our own command line
        ["/bin/ps", "-o", "comm=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return Path(listed.stdout.strip()).name


def _try_lock(file: int, kind: int) -> bool:
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(file, kind | fcntl.LOCK_NB)
        return True
    return False


def _read(file: int) -> Launch | None:
    try:
        return Launch(**json.loads(os.pread(file, 4096, 0)))
    except ValueError:  # empty, or being written now
        return None
