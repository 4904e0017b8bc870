"""Where the files of a server live."""

import hashlib
import os
from pathlib import Path

from app.process.embedded.account import Account, EmbeddedPostgresError

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
