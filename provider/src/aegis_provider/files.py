"""Files that appear whole or not at all, and digests of files."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

from aegis_provider.errors import IdentifierError, InUseError, OutputError, PromiseError, TableError
from aegis_provider.table import Source, files_of
from aegis_sdk import _files
from aegis_sdk._downloads import sha256_of


def refuse_overwriting(output: Path, *inputs: Source) -> None:
    """Refuse an output that is an input or cannot be a file.

    Raises:
        OutputError: The output is one of its inputs (paths, globs), or cannot be a file.
    """
    _refuse_what_is_no_file(output)
    for each in chain.from_iterable(map(files_of, inputs)):
        with suppress(OSError):  # one of the two does not exist
            if output.samefile(each):
                raise OutputError(f"{output}: is {each}, which is an input; choose another output")


@contextmanager
def none_if_refused(*outputs: Path) -> Iterator[None]:
    """Remove older output if this run is refused, since it would look like the result of this run.

    Files stay if the run fails for another reason.
    """
    try:
        yield
    except (IdentifierError, PromiseError):
        for output in outputs:
            with suppress(OSError):  # report the refusal, not this
                _target(output).unlink(missing_ok=True)
        raise


@contextmanager
def held_alone(folder: Path) -> Iterator[None]:
    """Hold a folder for this program alone. A killed program loses its hold, so another one can resume.

    Raises:
        InUseError: Another program holds it.
        OutputError: It cannot be opened.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be used: {error.strerror}") from error
    try:
        _lock(folder, descriptor)
        yield
    finally:
        os.close(descriptor)


def _lock(path: Path, descriptor: int) -> None:
    """Lock a directory until its descriptor is closed; fail if it was removed meanwhile."""
    if sys.platform == "win32":
        return
    import fcntl  # noqa: PLC0415 - Windows has none

    in_use = InUseError(f"{path}: another program works here")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_it = os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError as error:
        raise in_use from error
    if not is_it:
        raise in_use


@contextmanager
def written_whole(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a name beside `path` to write to; it is renamed to `path` at the end, or removed after a failure.

    A symbolic link stays one: its target is written. A `private` file can be read by its owner only.

    Raises:
        OutputError: The directory does not exist, `path` is not a file, or it cannot be written.
    """
    _refuse_what_is_no_file(path)
    try:
        with _files.written_whole(_target(path), private=private) as part:
            yield part
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error


def _target(path: Path) -> Path:
    """Return the file to write: the target of a symbolic link."""
    return path.resolve() if path.is_symlink() else path


def _refuse_what_is_no_file(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if not (folder := _target(path).parent).is_dir():
            raise OutputError(f"{path}: there is no directory {folder}; create it first") from None
        return
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from error
    if stat.S_ISDIR(mode):
        raise OutputError(f"{path}: is a directory; name a file in it")
    if not stat.S_ISREG(mode):
        raise OutputError(f"{path}: is a device, a pipe or a socket; name a file")


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises:
        TableError: It cannot be read.
    """
    try:
        return sha256_of(path)
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from error
