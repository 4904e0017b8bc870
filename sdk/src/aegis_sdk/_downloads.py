"""Downloads of delivered files: resumed where they stopped, and never longer than the declared size."""

import hashlib
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

import httpcore

from aegis_sdk._errors import AegisError
from aegis_sdk._links import Answered, LinkError, Links
from aegis_sdk.wire import Delivery

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)", re.ASCII)
_SIZE = re.compile(r"\d{1,18}", re.ASCII)  # Python refuses to read thousands of digits
_OK, _PARTIAL, _UNSATISFIABLE = 200, 206, 416
_AGAIN: Final = (408, 425, 429)
_SERVER: Final = 500
_LONGER: Final = 1.5

_FAILED: Final = (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError)


class DownloadError(AegisError):
    """The download of a delivered file failed."""


class OtherFileError(DownloadError):
    """The link gives another file of the same size, with this SHA-256, twice in a row."""

    def __init__(self, sha256: str) -> None:
        super().__init__(f"the link gives another file: its SHA-256 is {sha256}")
        self.sha256 = sha256


class _PassingError(Exception):
    """This attempt failed, but another may succeed. `wait`: the seconds that the server asks to wait."""

    def __init__(self, detail: str, wait: float = 0.0) -> None:
        super().__init__(detail)
        self.wait = wait


@dataclass(frozen=True)
class Patience:
    """The limits on retries and on slow links.

    Attributes:
        attempts: Consecutive attempts without progress.
        pause: Seconds before the second attempt; each further pause is twice as long.
        longest: The longest pause, in seconds.
        window: Seconds in which `least` bytes have to arrive, so that a dripping link is given up. If nothing of the
            file arrives, the connection is closed after half as long again.
        least: Minimum number of bytes per window.
    """

    attempts: int = 6
    pause: float = 0.5
    longest: float = 20.0
    window: float = 60.0
    least: int = 60_000


@dataclass
class Download:
    """The download of a delivered file to a partial file, which is complete with the declared size and SHA-256."""

    delivery: Delivery
    part: Path
    links: Links
    patience: Patience = field(default_factory=Patience)
    progress: Callable[[int, int], None] = lambda _done, _total: None
    pause: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _etag: str | None = None
    _hash: Any = field(default_factory=hashlib.sha256)
    _hashed: int = 0

    def run(self) -> None:
        """Download the file, or the rest of it if a partial file exists.

        Raises:
            OtherFileError: The whole file was read twice, with the same wrong SHA-256.
            DownloadError: The link gives a file of another size, a different one each time, or cannot be read.
        """
        read: list[str] = []
        with _alone(self.part):
            while len(read) < 2:  # noqa: PLR2004 - twice
                begun = self._size() > 0
                self._fill()
                sha256 = self._sha256_of_first(self.delivery.size).hexdigest()
                if sha256 == self.delivery.sha256:
                    return
                if not begun:  # the partial file may be the beginning of another file
                    read.append(sha256)
                if len(read) < 2:  # noqa: PLR2004 - twice
                    self._discard()
        if len(set(read)) > 1:
            raise DownloadError("the link gives a different file each time; ask its provider for another link")
        raise OtherFileError(read[0])

    def _fill(self) -> None:
        """Read until the partial file has the declared size."""
        failures = furthest = 0
        while (before := self._size()) < self.delivery.size:
            try:
                self._read(before)
            except LinkError as error:
                raise DownloadError(str(error)) from None
            except (_PassingError, *_FAILED) as error:
                # Rereading is not progress: otherwise a link that forces restarts would never be given up.
                there = self._size()
                gained = there - max(before, furthest)
                if there != before:  # else an earlier run has begun it
                    furthest = max(furthest, there)
                failures = 0 if gained >= self.patience.least else failures + 1
                if failures >= self.patience.attempts:
                    raise DownloadError(
                        f"the link does not give the file: {_words(error)} ({self._size()} of {self.delivery.size} "
                        "bytes are there; try again later, or ask its provider for another link)"
                    ) from None
                asked = error.wait if isinstance(error, _PassingError) else 0.0
                backed_off = self.patience.pause * float(2 ** max(failures - 1, 0))
                self.pause(min(max(asked, backed_off), self.patience.longest))

    def _read(self, begun: int) -> None:
        """Read the file once, from an offset on."""
        headers = {}
        if begun:
            headers = {"range": f"bytes={begun}-"} | ({"if-range": self._etag} if self._etag else {})
        with self.links.read(self.delivery.url, headers) as answer:
            begins = self._begins(answer, begun)
            tag = answer.headers.get("etag", "")
            self._etag = (
                tag if tag.startswith('"') and tag.isascii() else None
            )  # a weak one does not identify the bytes
            self._sha256_of_first(begins)
            with _opened(self.part, "r+b" if begins else "wb") as file:
                file.seek(begins)
                file.truncate()
                self._keep(answer, file, begins)
        if (there := self._size()) < self.delivery.size:
            raise _PassingError(f"the response ended after {there} bytes")

    def _begins(self, answer: Answered, begun: int) -> int:
        """The offset of a response in the file; refuse a response that is not of the file."""
        if answer.status == _UNSATISFIABLE:
            self._discard()
            raise _PassingError("it has fewer bytes than the part that is already here")
        if answer.status in _AGAIN or answer.status >= _SERVER:
            wait = answer.headers.get("retry-after", "")
            seconds = float(wait[:6]) if wait.isascii() and wait.isdigit() else 0.0
            raise _PassingError(f"it answers {answer.status}", seconds)
        if answer.status not in (_OK, _PARTIAL):
            raise DownloadError(f"the link answers {answer.status}; if it has ended, ask its provider for another one")
        if (coding := answer.headers.get("content-encoding", "").strip().lower()) not in ("", "identity"):
            self._discard()
            raise DownloadError(
                f"the link gives the file compressed ({coding[:20]!a}), which was not asked for; ask its provider for "
                "a link to the file as it is"
            )
        if answer.status == _OK:
            self._refuse_size(answer.headers.get("content-length", ""))
            return 0
        range_ = _CONTENT_RANGE.fullmatch(answer.headers.get("content-range", "").strip())
        if range_ is None or int(range_[1]) != begun:
            self._discard()
            raise _PassingError("it answers with a part that was not asked for")
        self._refuse_size(range_[2])
        return begun

    def _refuse_size(self, size: str) -> None:
        if _SIZE.fullmatch(size) and int(size) != self.delivery.size:
            self._discard()
            raise DownloadError(f"the link gives {int(size)} bytes, but {self.delivery.size} were delivered")

    def _keep(self, answer: Answered, file: IO[bytes], there: int) -> None:
        """Write the response, and stop at the first excess byte or if the link drips."""
        since, then = self.clock(), there
        answer.deadline.move(self.patience.window * _LONGER)
        for part in answer.parts:
            there += len(part)
            if there > self.delivery.size:
                file.truncate(0)
                raise DownloadError(f"the link gives more than the {self.delivery.size} bytes that were delivered")
            file.write(part)
            self._hash.update(part)
            self._hashed = there
            self.progress(there, self.delivery.size)
            if self.clock() - since >= self.patience.window:
                if there - then < self.patience.least:
                    raise _PassingError(f"only {there - then} bytes came in {self.clock() - since:.0f} s")
                since, then = self.clock(), there
                answer.deadline.move(self.patience.window * _LONGER)

    def _sha256_of_first(self, size: int) -> Any:  # noqa: ANN401 -- the type of hashes has no public name
        """The hash of the first bytes of the partial file, which is read only if they were not just written."""
        if self._hashed != size:
            with _opened(self.part, "rb") as file:
                self._hash, self._hashed = hash_of(file, size), size
        return self._hash

    def _size(self) -> int:
        try:
            there = self.part.stat().st_size
        except FileNotFoundError:
            return 0
        if there > self.delivery.size:
            self._discard()
            return 0
        return there

    def _discard(self) -> None:
        self._etag = None
        with suppress(FileNotFoundError), _opened(self.part, "r+b") as file:
            file.truncate()  # stays open, since it is locked


@contextmanager
def _alone(part: Path) -> Iterator[None]:
    """Lock the partial file against other processes."""
    with _opened(part, "ab") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise DownloadError(f"{part}: another process is writing to it") from None
        try:
            yield
        except BaseException:
            with suppress(OSError):  # somebody removed it, or it cannot be removed while it is open
                if not part.stat().st_size:  # nothing arrived, so there is nothing to resume
                    part.unlink()
            raise


def _opened(part: Path, mode: str) -> IO[bytes]:
    """Open the partial file, but do not follow a symbolic link in its place, which others may have put there.

    Raises:
        DownloadError: It is a symbolic link.
    """
    if part.is_symlink():
        raise DownloadError(f"{part}: is a symbolic link; remove it, or choose another --output")
    # A link that appears meanwhile makes the system call fail.
    no_link = getattr(os, "O_NOFOLLOW", 0)
    return open(part, mode, opener=lambda path, flags: os.open(path, flags | no_link, 0o666))


def _words(error: Exception) -> str:
    """The message of an error; those of time-outs are often empty."""
    if isinstance(error, httpcore.TimeoutException):
        return "it does not answer in time"
    return str(error) or type(error).__name__


_BLOCK: Final = 1 << 20


def hash_of(file: IO[bytes], size: int | None = None) -> Any:  # noqa: ANN401 -- the type of hashes has no public name
    """The SHA-256 of an open file from its position on, or of this number of bytes; can be updated."""
    digest, left = hashlib.sha256(), sys.maxsize if size is None else size
    while left and (block := file.read(min(left, _BLOCK))):
        digest.update(block)
        left -= len(block)
    return digest


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        return str(hash_of(file).hexdigest())
