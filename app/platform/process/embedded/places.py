"""The account that the server runs as, what it can reach, and where the server's files are."""

import hashlib
import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from app.platform.errors import OperatorError

_ENTER = 0o1
_READ_AND_ENTER = 0o5


class EmbeddedPostgresError(OperatorError):
    """The embedded server cannot be used. The first line says what, where and what to do; a log may follow."""


@dataclass(frozen=True)
class Account:
    """The account of the server process.

    Attributes:
        uid: its user id.
        gid: its group id.
        foreign: whether it differs from the account that starts the server.
    """

    uid: int
    gid: int
    foreign: bool

    def may_enter(self, directory: Path) -> bool:
        """Whether the account may pass every directory from the root down to this one, which must exist."""
        return not self.foreign or all(self._granted(step, _ENTER) for step in (directory, *directory.parents))

    def may_run_from(self, directory: Path) -> bool:
        """Whether the account may list this directory and run what is directly in it."""
        return not self.foreign or (
            self.may_enter(directory)
            and all(self._granted(path, _READ_AND_ENTER) for path in (directory, *directory.iterdir()))
        )

    def own(self, path: Path) -> None:
        """Give the account a directory that this process has just made."""
        if self.foreign:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def _granted(self, path: Path, wanted: int) -> bool:
        status = path.stat()
        if status.st_uid == self.uid:
            wanted <<= 6
        elif status.st_gid == self.gid:
            wanted <<= 3
        return stat.S_IMODE(status.st_mode) & wanted == wanted


def server_account() -> Account:
    """The account of this process, or `nobody` if that is root, since PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), foreign=False)
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise EmbeddedPostgresError(
            "PostgreSQL does not run as root and this machine has no user 'nobody': run as an ordinary user, "
            "or set AEGIS_DATABASE_URL to your own server"
        ) from None
    return Account(nobody.pw_uid, nobody.pw_gid, foreign=True)


SHARED_ROOT = Path("/var/lib/aegis")
"""Where root keeps the files that `nobody` must reach if others may not enter the requested directory."""


def home_of(data_dir: Path, account: Account, shared_root: Path = SHARED_ROOT) -> Path:
    """The directory for a server's lock, log, cluster and socket. Creates nothing.

    Returns:
        `data_dir`, or a directory named after it below `shared_root` if the server's account cannot reach `data_dir`.

    Raises:
        EmbeddedPostgresError: a part of the path is not a directory.
    """
    data_dir = data_dir.absolute().resolve()
    existing = next(step for step in (data_dir, *data_dir.parents) if step.exists())
    if not existing.is_dir():
        raise EmbeddedPostgresError(f"{existing} is no directory: choose another data directory than {data_dir}")
    if account.may_enter(existing):
        return data_dir
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    return shared_root / "clusters" / f"{data_dir.name[:24]}-{digest}"


def make_home(home: Path, account: Account) -> None:
    """Make the directory and its missing parents private, except that a foreign account may pass through them.

    The directory belongs to the account that starts the server, never to the server's: root writes in it, and symbolic
    links of another account could redirect these writes.
    """
    mode = 0o711 if account.foreign else 0o700
    for step in reversed((home, *home.parents)):
        if not step.exists():
            step.mkdir()
            step.chmod(mode)  # mkdir's own mode is subject to the umask
    if home.stat().st_uid != os.geteuid():
        raise EmbeddedPostgresError(
            f"{home} belongs to user id {home.stat().st_uid}, not to you ({os.geteuid()}): "
            "run as that user, or choose another data directory"
        )
    if account.foreign:
        home.chmod(stat.S_IMODE(home.stat().st_mode) & ~0o022)  # what root writes in it, nobody else may replace
