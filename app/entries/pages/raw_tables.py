"""Distinguishes tables and other files from entries by their first bytes, so that no record is read beyond these."""

import json
import re
from collections.abc import Sequence
from typing import Final

from aegis_sdk.wire import EntryDocument
from app.platform.http.refusals import MediaTypeError

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
