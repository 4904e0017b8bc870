"""Entry files in forms: uploads, read in memory, and drafts between check and publication.

Raw tables and other files are recognised by their first bytes, so that no record is read beyond these. The page of the
check contains the file and the service stores nothing, so nothing is half published, and the file need not be chosen
again.
"""

import binascii
import gzip
import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from anyio import to_thread
from fastapi import Request

from aegis_sdk import wire
from aegis_sdk.wire import EntryDocument
from app.entries.api.mapping import visibility_of
from app.entries.model.entries import Visibility
from app.pages.forms import TOO_OLD, Form, validated_as
from app.pages.multipart import Multipart, Piece
from app.pages.viewers import Viewer
from app.platform.errors import InvalidDocumentError, RoleNotAllowedError
from app.platform.http.bodies import (
    BOMB_BYTES,
    BOMB_RATIO,
    SMALL_BODY,
    CodingError,
    InflatedSizeError,
    Inflater,
    arriving,
)
from app.platform.http.refusals import BodyTooLargeError, MalformedRequestError, MediaTypeError

#: The number of bytes to decide whether a file is a single JSON object.
FIRST_BYTES: Final = 64 * 1024

#: The number of bytes to recognise a format by its signature.
SIGNATURE_BYTES: Final = 512

GZIP: Final = b"\x1f\x8b"

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

#: The first bytes of file formats.
_SIGNATURES: Final[Sequence[tuple[bytes, str]]] = (
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"FEA1", "a Feather file"),
    (b"ORC", "an ORC file"),
    (b"Obj\x01", "an Avro file"),
    (b"PK\x03\x04", "an Excel file or another ZIP archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel file"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"<stata_dta>", "a Stata file"),
    (b"$FL2", "an SPSS file"),
    (b"$FL3", "an SPSS file"),
    (b"RDX2", "an R file"),
    (b"RDX3", "an R file"),
    (b"X\n\x00\x00\x00", "an R file"),
    (b"HEADER RECORD*******", "a SAS file"),
    (bytes(12) + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf", "a SAS file"),
    (b"\xff\xfe", "a text in UTF-16"),
    (b"\xfe\xff", "a text in UTF-16"),
    (b"BZh", "a file compressed by bzip2"),
    (b"\xfd7zXZ\x00", "a file compressed by xz"),
    (b"\x28\xb5\x2f\xfd", "a file compressed by zstd"),
)

#: DuckDB's signature is not at the beginning of its files.
_DUCKDB: Final = slice(8, 12)

_FIRST_MEMBER: Final = re.compile(rb'\{\s*"((?:[^"\\]|\\.)*)"\s*:', re.DOTALL)

_MEMBERS: Final = frozenset(name.encode() for name in EntryDocument.model_fields)

_NOT_TEXT: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")

#: The field that has the file.
FILE_FIELD: Final = "entry"

_DAMAGED = "The form has lost the entry file. Choose the file again."


class RawTableError(MediaTypeError):
    """The file is not an entry, and may have records of people; `kind` is its apparent type."""

    code = "raw_table"

    def __init__(self, kind: str, file: str) -> None:
        super().__init__(f"This is {kind}, not an entry file. No record may enter this service, so nothing was stored.")
        self.kind = kind
        self.file = file


def kind_by_signature(first: bytes) -> str | None:
    """The type of a file by its first `SIGNATURE_BYTES`; None if it may be an entry."""
    text = first.removeprefix(_BYTE_ORDER_MARK).lstrip(b" \t\r\n")
    if not text or text.startswith(b"{"):
        return None
    if text.startswith(b"["):
        return "a JSON list, such as a list of records"
    for signature, kind in _SIGNATURES:
        if first.startswith(signature):
            return kind
    if first[_DUCKDB] == b"DUCK":
        return "a DuckDB database"
    return _kind_of_text(text)


def kind_of_json(first: bytes) -> str | None:
    """The type of a file that begins like an object, by its `FIRST_BYTES`; None if it may be an entry."""
    text = first.removeprefix(_BYTE_ORDER_MARK).lstrip(b" \t\r\n")
    if _has_several(text):
        return "a JSON file with an object on each line, such as records"
    member = _FIRST_MEMBER.match(text)
    if member is not None and member[1] not in _MEMBERS:
        return "a JSON file with other members than an entry"
    return None


def _has_several(text: bytes) -> bool:
    """Whether an object ends in this text, followed by another one."""
    decoded = text.decode(errors="replace")
    try:
        _, end = json.JSONDecoder().raw_decode(decoded)
    except (ValueError, RecursionError):
        return False
    return decoded[end:].lstrip().startswith(("{", "["))


def _kind_of_text(text: bytes) -> str:
    if _NOT_TEXT.search(text):
        return "a binary file"
    line = text.splitlines()[0]
    if b"\t" in line:
        return "a table of text (TSV)"
    return "a table of text (CSV)" if re.search(rb"[,;|]", line) else "a file of text"


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry file with the decisions about it so far.

    Attributes:
        entry_id: the entry for a new version; empty for a new entry, or if the file's name decides.
        seen: the state of that entry at the provider's decision (`state_of`).
        audience: the audience of a new entry: `private`, `all` or `tenants`; empty if the file has it.
        accepts_small_counts: whether its small counts are accepted.
        accepts_unique: whether its large share of lone records is accepted.
    """

    file: str
    document: bytes
    entry_id: str = ""
    seen: str = ""
    audience: str = ""
    tenants: str = ""
    accepts_small_counts: bool = False
    accepts_unique: bool = False

    def packed(self) -> str:
        """The content as a field of a form. Slow for large entries."""
        return urlsafe_b64encode(gzip.compress(self.document, 2)).decode()

    def visibility(self) -> Visibility | None:
        """The visibility of a new entry; None if the file has it (InvalidDocumentError: missing or invalid tenants)."""
        if not self.audience:
            return None
        names = [name.strip() for name in self.tenants.replace(",", "\n").splitlines() if name.strip()]
        if self.audience == "tenants" and not names:
            raise InvalidDocumentError("Name the tenants that may see the entry, or choose another visibility.")
        asked = {"tenants": names} if self.audience == "tenants" else self.audience
        return visibility_of(validated_as(wire.VisibilityPatch, {"visibility": asked}).visibility)


async def read_upload(request: Request, viewer: Viewer, limit: int, take: Callable[[int], None]) -> Draft:
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
    reader = _UploadReader(viewer, limit, take)
    async for chunk in arriving(request, limit + SMALL_BODY):
        for piece in parts.feed(chunk):
            await reader.read(piece)
    if not parts.is_complete:
        raise MalformedRequestError("The form ends before its last field does.")
    return reader.upload()


class _UploadReader:
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
        try:
            text = self._text.decode()
        except UnicodeDecodeError:
            raise MalformedRequestError("The form cannot be read: its fields must be UTF-8.") from None
        self._fields.setdefault(piece.name, []).append(text)
        self._text = b""

    def _refuse_stranger(self) -> None:
        """Refuse to read on unless the form is from a page shown to this viewer."""
        sent = self._fields.get("csrf")
        if sent is None or not self._viewer.has_sent(sent[-1]):
            raise RoleNotAllowedError(TOO_OLD)

    def upload(self) -> Draft:
        """The upload read so far."""
        self._refuse_stranger()
        name, document = ("", b"") if self._file is None else (self._file.name, self._file.document())
        return Draft(name, document, Form(self._fields).text("version_of"))


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
        """Refuse a file that is not an entry (RawTableError) as soon as enough of it has arrived."""
        while self._looks and (self.is_over or self._size >= self._looks[0][0]):
            enough, kind_of = self._looks.pop(0)
            kind = kind_of(b"".join(self._content)[:enough])
            if kind is not None:
                raise RawTableError(kind, self.name)


def read_draft(form: Form, limit: int) -> Draft:
    """The draft in the form of a check (MalformedRequestError: changed in transit; BodyTooLargeError). Can be slow."""
    return Draft(
        form.text("file"),
        _unpacked(form.text("document"), limit),
        form.text("entry_id"),
        form.text("seen"),
        form.text("audience"),
        form.text("tenants"),
        form.has("accept_small_counts"),
        form.has("accept_unique"),
    )


def _unpacked(packed: str, limit: int) -> bytes:
    inflater = Inflater(limit)
    try:
        document = b"".join(inflater.feed(urlsafe_b64decode(packed)))
    except InflatedSizeError:
        raise BodyTooLargeError(f"The file has more than {limit} bytes, the most that are accepted.") from None
    except (CodingError, binascii.Error, ValueError):
        raise MalformedRequestError(_DAMAGED) from None
    if not inflater.is_complete:
        raise MalformedRequestError(_DAMAGED)
    return document
