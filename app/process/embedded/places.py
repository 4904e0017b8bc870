"""Which account the server runs as, what it can reach, and where the server's files live."""

import hashlib
import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

_ENTER = 0o1
_READ_AND_ENTER = 0o5


class EmbeddedPostgresError(Exception):
    """The embedded server cannot be used: a line says what, where and what to do; a log may follow."""


@dataclass(frozen=True)
class Account:
    """The account of the server process.

    Attributes:
        uid: its user id.
        gid: its group id.
        foreign: it is not the account that starts the server.
    """

    uid: int
    gid: int
    foreign: bool

    def may_enter(self, directory: Path) -> bool:
        """Whether every directory from the root down to this (existing) one lets the account pass."""
        return not self.foreign or all(self._granted(step, _ENTER) for step in (directory, *directory.parents))

    def may_run_from(self, directory: Path) -> bool:
        """Whether the account can list this directory and run what lies directly in it."""
        return not self.foreign or (
            self.may_enter(directory)
            and all(self._granted(path, _READ_AND_ENTER) for path in (directory, *directory.iterdir()))
        )

    def own(self, path: Path) -> None:
        """Hand over a directory that we have just made."""
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
    """Ourselves, or `nobody` when we are root, whom PostgreSQL refuses to run as."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), foreign=False)
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise EmbeddedPostgresError(
            "PostgreSQL does not run as root and this machine has no user 'nobody': run as an ordinary user, "
            "or set AEGIS_DATABASE_URL to a server of yours"
        ) from None
    return Account(nobody.pw_uid, nobody.pw_gid, foreign=True)


SHARED_ROOT = Path("/var/lib/aegis")
"""Where root keeps what `nobody` must reach when the place asked for cannot be entered by others."""


def home_of(data_dir: Path, account: Account, shared_root: Path = SHARED_ROOT) -> Path:
    """The directory that holds a server's lock, log, cluster and socket. Creates nothing.

    Returns:
        `data_dir`, or one named after it below `shared_root` when the server's account cannot reach `data_dir`.

    Raises:
        EmbeddedPostgresError: a file is in the way.
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
    """Make the directory and its missing parents; private, though a foreign account may pass through.

    The directory stays ours, never the server account's: we write in it as root, where another's symbolic
    link would lead us astray.
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
