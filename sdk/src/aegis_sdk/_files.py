"""Files that appear whole or not at all."""

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Final
from zlib import crc32

# A long name is cut to this many characters, so that the temporary file's name stays short enough.
_SHOWN: Final = 50

_PART: Final = ".part"


@contextmanager
def written_whole(target: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a name beside `target` to write to; it is renamed to `target` at the end, or removed after a failure.

    A symbolic link is replaced, not followed. A `private` file can be read by its owner only.

    Raises:
        OSError: `target` is a directory, or cannot be written.
    """
    if target.is_dir():  # before anything else is renamed
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    # Not by the number of the process, which another container with the same folder may have, too.
    part = target.with_name(f".{_shown(target.name)}.{token_hex(8)}{_PART}")
    part.touch(0o600 if private else 0o666, exist_ok=False)  # before any work if the directory is not writable
    try:
        yield part
        part.replace(target)
    finally:
        with suppress(OSError):  # keep the first failure
            part.unlink(missing_ok=True)


def write_together(texts: Mapping[Path, str]) -> None:
    """Write these files as UTF-8. None gets its name before all are written.

    Raises:
        OSError: One of them cannot be written.
    """
    with ExitStack() as files:
        for path, text in texts.items():
            files.enter_context(written_whole(path)).write_text(text, encoding="utf-8", newline="")


def is_unfinished(path: Path) -> bool:
    """Whether a file was left behind by `written_whole` in a killed program."""
    return path.name.startswith(".") and path.name.endswith(_PART)


def _shown(name: str) -> str:
    """The name; a long one is cut and gets a distinguishing number."""
    return name if len(name) <= _SHOWN else f"{name[:_SHOWN]}.{crc32(os.fsencode(name)):08x}"
