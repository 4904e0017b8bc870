"""What this machine keeps for its user between commands: the key of lasting rounding, and which tables used it.

It lies in `$XDG_STATE_HOME/aegis`, by default `~/.local/state/aegis` (XDG Base Directory Specification 0.8). Only its
owner can read it, and no command copies it.
"""

import os
import re
import secrets
import stat
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from aegis_provider.control.lasting import KEY_BYTES, LastingRandomness
from aegis_provider.errors import OutputError, ProviderError
from aegis_provider.files import written_whole

_KEY: Final = "rounding.key"
_TABLES: Final = "tables"
_PRIVATE: Final = 0o700
_FINGERPRINT: Final = re.compile("[0-9a-f]{16}")


class StateError(ProviderError):
    """The state folder or its key cannot be used; the text says where and what to do."""


def state_folder() -> Path:
    """Return the user's state folder, which may not exist yet.

    Raises:
        StateError: The user has no home, or a relative one, which would be another in each working directory.
    """
    given = Path(os.environ.get("XDG_STATE_HOME", ""))
    with suppress(RuntimeError):  # there is no home
        folder = (given if given.is_absolute() else Path.home() / ".local" / "state") / "aegis"
        if folder.is_absolute():
            return folder
    raise StateError("there is no home folder for the key of rounding: set XDG_STATE_HOME to a folder")


def lasting_randomness() -> LastingRandomness:
    """Return the randomness of this user's key, which is made if there is none.

    Raises:
        StateError: The key cannot be read or made, is damaged, is not a regular file, or others may read it.
    """
    path = state_folder() / _KEY
    try:
        made = _made(path)
        key = _read(path)
    except OSError as error:
        reason = error.strerror or error
        raise StateError(
            f"{path}: the key of rounding cannot be used: {reason}; make it yours, or set XDG_STATE_HOME to a folder"
        ) from error
    new = f"{path}: made a key, by which a table is rounded alike each time; to publish from elsewhere, copy it there"
    return LastingRandomness(key, lasts=True, made=new if made else "")


def _made(path: Path) -> bool:
    """Make a key unless there is one; of two commands at once, one makes it."""
    if os.path.lexists(path):
        return False
    for folder in reversed(path.parents):  # `parents=True` would let everyone write in them by a umask of 0
        folder.mkdir(mode=_PRIVATE, exist_ok=True)
    path.parent.chmod(_PRIVATE)
    part = path.with_name(f".{_KEY}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        part.touch(0o600, exist_ok=False)
        with part.open("wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(part, path)  # unlike a renaming, it fails if another command was faster
        except FileExistsError:
            return False
        except OSError:  # this file system has no hard links
            return _renamed(part, path)
        return True
    finally:
        part.unlink(missing_ok=True)


def _renamed(part: Path, path: Path) -> bool:
    """Rename a file unless the name is taken: one command at a time, by a lock that ends with its process."""
    import fcntl  # noqa: PLC0415 - Windows has none, but has hard links

    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if is_free := not (path.exists() or path.is_symlink()):
            part.rename(path)
        return is_free
    finally:
        os.close(folder)


def _read(path: Path) -> bytes:
    if not stat.S_ISREG(path.lstat().st_mode):
        raise StateError(f"{path}: the key of rounding must be a regular file; put a copy of the key there")
    with path.open("rb") as file:
        if mode := stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            raise StateError(f"{path}: others may use the key of rounding (mode {mode:03o}): chmod 600 {path}")
        key = file.read(KEY_BYTES + 1)
    if len(key) != KEY_BYTES:
        raise StateError(
            f"{path}: the key of rounding is damaged: put a copy of it there; without one, remove it, and a new one is "
            "made"
        )
    return key


def changed_key(chance: LastingRandomness, label: str, attributes: Sequence[str]) -> str:
    """Return a warning if the last entry of this table used another key than this one; otherwise nothing."""
    try:
        known = _known(label, attributes).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
    if not chance.lasts or known == chance.fingerprint:
        return ""
    other = known if _FINGERPRINT.fullmatch(known) else "unknown"
    return (
        f"the last entry of this table was rounded by another key ({other}, now {chance.fingerprint}): publishing this "
        f"one is one more look at its counts; put that key back as {state_folder() / _KEY} first"
    )


def remember_key(chance: LastingRandomness, label: str, attributes: Sequence[str]) -> None:
    """Keep which key the last entry of this table used.

    Raises:
        OutputError: It cannot be written.
    """
    path = _known(label, attributes)
    try:
        path.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        fault = f"{path.parent}: cannot be made: {reason}; make {path.parents[1]} yours"
        raise OutputError(fault) from error
    with written_whole(path, private=True) as part:
        part.write_text(f"{chance.fingerprint}\n", encoding="ascii")


def _known(label: str, attributes: Sequence[str]) -> Path:
    """Return the file about a table, which is known by the names of its label and attributes."""
    names = "\0".join([label, *sorted(attributes)])
    return state_folder() / _TABLES / sha256(names.encode("utf-8", "surrogatepass")).hexdigest()[:32]
