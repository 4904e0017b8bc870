"""Uploads of entry files, read in memory; raw tables are refused after their first bytes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from anyio import to_thread
from fastapi import Request

from app.entries.pages.raw_tables import (
    FIRST_BYTES,
    GZIP,
    SIGNATURE_BYTES,
    RawTableError,
    kind_by_signature,
    kind_of_json,
)
from app.pages.forms import TOO_OLD, Form
from app.pages.multipart import Multipart, Piece
from app.pages.viewers import Viewer
from app.platform.errors import RoleNotAllowedError
from app.platform.http.bodies import SMALL_BODY, arriving
from app.platform.http.codings import BOMB_BYTES, BOMB_RATIO, CodingError, InflatedSizeError, Inflater
from app.platform.http.refusals import BodyTooLargeError, MalformedRequestError

#: The field that has the file.
FILE_FIELD: Final = "entry"


@dataclass(frozen=True, slots=True)
class EntryUpload:
    """A form with an entry file.

    Attributes:
        form: the other fields.
        document: the content of the file, decompressed.
    """

    form: Form
    file: str
    document: bytes


async def read_upload(request: Request, viewer: Viewer, limit: int, take: Callable[[int], None]) -> EntryUpload:
    """Read a form whose first field is `csrf` and whose last one is an entry file.

    With a wrong `csrf`, the file is not read; a file that is not an entry is read only to its first bytes. `take` is
    called with the size of each part of the file.

    Raises:
        RoleNotAllowedError: the form is not from a page shown to this viewer.
        RawTableError: the file may be a table.
        BodyTooLargeError: the form or the decompressed file is larger than `limit`.
        MalformedRequestError: the form or the file cannot be read.
        OverloadedError: `take` refuses it.
    """
    parts = Multipart(request.headers.get("content-type", ""))
    reader = _Reader(viewer, limit, take)
    async for chunk in arriving(request, limit + SMALL_BODY):
        for piece in parts.feed(chunk):
            await reader.read(piece)
    if not parts.is_complete:
        raise MalformedRequestError("The form ends before its last field does.")
    return reader.upload()


class _Reader:
    """Reads a form piece by piece."""

    def __init__(self, viewer: Viewer, limit: int, take: Callable[[int], None]) -> None:
        self._viewer, self._limit, self._take = viewer, limit, take
        self._fields: dict[str, list[str]] = {}
        self._text = b""
        self._left = SMALL_BODY
        self._file: _EntryFile | None = None

    async def read(self, piece: Piece) -> None:
        if piece.file is None:
            self._read_field(piece)
            return
        if piece.name != FILE_FIELD or (self._file is not None and self._file.is_over):
            raise MalformedRequestError(f"Send one file, in the field {FILE_FIELD}.")
        self._refuse_stranger()
        if self._file is None:
            self._file = _EntryFile(piece.file, self._limit, self._take)
        await self._file.read(piece.content)

    def _read_field(self, piece: Piece) -> None:
        if piece.name != "csrf":
            self._refuse_stranger()
        self._left -= len(piece.content) + len(piece.name) + 1
        if self._left < 0:
            raise BodyTooLargeError(f"The fields beside the file have more than {SMALL_BODY} bytes.")
        if piece.content:
            self._text += piece.content
            return
        self._fields.setdefault(piece.name, []).append(_field_text(self._text))
        self._text = b""

    def _refuse_stranger(self) -> None:
        """Refuse to read on unless the form is from a page shown to this viewer."""
        sent = self._fields.get("csrf")
        if sent is None or not self._viewer.has_sent(sent[-1]):
            raise RoleNotAllowedError(TOO_OLD)

    def upload(self) -> EntryUpload:
        """The upload read so far."""
        self._refuse_stranger()
        if self._file is None:
            return EntryUpload(Form(self._fields), "", b"")
        return EntryUpload(Form(self._fields), self._file.name, self._file.document())


def _field_text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise MalformedRequestError("The form cannot be read: its fields must be UTF-8.") from None


class _EntryFile:
    """An entry file, plain or compressed by gzip."""

    def __init__(self, name: str, limit: int, take: Callable[[int], None]) -> None:
        self.name = name
        self.is_over = False
        self._limit, self._take = limit, take
        self._waiting = b""
        self._inflater: Inflater | None = None
        self._content: list[bytes] = []
        self._size = 0
        self._looks = [(SIGNATURE_BYTES, kind_by_signature), (FIRST_BYTES, kind_of_json)]

    async def read(self, content: bytes) -> None:
        """Add the next bytes; empty at the end."""
        self.is_over = not content
        self._waiting += content
        if len(self._waiting) < len(GZIP) and not self.is_over:
            return
        sent, self._waiting = self._waiting, b""
        if not self._content and sent.startswith(GZIP):
            self._inflater = self._inflater or Inflater(self._limit)
        for piece in await self._inflated(sent):
            self._keep(piece)
        if self.is_over:
            self._look()

    def document(self) -> bytes:
        """The complete content."""
        if self._inflater is not None and not self._inflater.is_complete:
            raise MalformedRequestError("The file ends before its gzip does: it was cut off. Compress it again.")
        return b"".join(self._content)

    async def _inflated(self, sent: bytes) -> list[bytes]:
        """Decompress bytes, in a thread, so that other requests are served meanwhile."""
        if self._inflater is None:
            return [sent]
        try:
            return await to_thread.run_sync(self._inflater.feed, sent)
        except InflatedSizeError:
            most = f"at most {self._limit} bytes, and beyond {BOMB_BYTES} at most {BOMB_RATIO} times those of the file"
            raise BodyTooLargeError(f"The inflated file is too large: {most}, are accepted.") from None
        except CodingError:
            raise MalformedRequestError("The file begins like gzip, but is not. Compress it again.") from None

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            raise BodyTooLargeError(f"The file has more than {self._limit} bytes, the most that are accepted.")
        self._take(len(piece))
        self._content.append(piece)
        self._look()

    def _look(self) -> None:
        """Refuse a file that is not an entry as soon as enough of it has arrived.

        Raises:
            RawTableError: it is not an entry.
        """
        while self._looks and (self.is_over or self._size >= self._looks[0][0]):
            enough, kind_of = self._looks.pop(0)
            kind = kind_of(b"".join(self._content)[:enough])
            if kind is not None:
                raise RawTableError(kind, self.name)
