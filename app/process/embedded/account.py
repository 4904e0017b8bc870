"""Which account the server runs as, and what that account can reach."""

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
