"""Forms with a file (RFC 7578), parsed as they arrive. Nothing is written to disk."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from app.platform.http.bodies import LONGEST_TYPE
from app.platform.http.refusals import MalformedRequestError, MediaTypeError

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

# Its warnings quote unexpected bytes, which may be part of a table.
logging.getLogger("python_multipart").setLevel(logging.CRITICAL)

TYPE: Final = "multipart/form-data"

#: The most parts of a form, and the most bytes of all their headers. Our pages send three parts with some 200 bytes.
MOST_PARTS: Final = 20
MOST_HEADER_BYTES: Final = 16 * 1024

_UNREADABLE: Final = "The form cannot be read: it is not valid multipart/form-data."


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes of a field.

    Attributes:
        file: the file's name; None if the field is not a file.
        content: the bytes; empty at the end of the field.
    """

    name: str
    file: str | None
    content: bytes


class Multipart:
    """Parses a form.

    Attributes:
        is_complete: whether its end has arrived.

    Raises:
        MediaTypeError: the header declares something else.
    """

    def __init__(self, content_type: str) -> None:
        declared, parameters = (b"", {}) if len(content_type) > LONGEST_TYPE else parse_options_header(content_type)
        if declared.decode("latin-1") != TYPE or not parameters.get(b"boundary"):
            raise MediaTypeError(f"Send the form as {TYPE}.")
        self._pieces: list[Piece] = []
        self._header = [b"", b""]
        self._parts, self._header_bytes = 0, 0
        self._name = ""
        self._file: str | None = None
        self.is_complete = False
        try:
            self._parser = MultipartParser(parameters[b"boundary"], self._callbacks())
        except FormParserError:
            raise MalformedRequestError(_UNREADABLE) from None

    def feed(self, chunk: bytes) -> Iterator[Piece]:
        """The pieces of fields in the next chunk.

        Raises:
            MalformedRequestError: the form is invalid or too large.
        """
        try:
            self._parser.write(chunk)
        except FormParserError:
            raise MalformedRequestError(_UNREADABLE) from None
        pieces, self._pieces = self._pieces, []
        yield from pieces

    def _callbacks(self) -> "MultipartCallbacks":
        return {
            "on_part_begin": self._begin,
            "on_header_field": partial(self._add_to_header, 0),
            "on_header_value": partial(self._add_to_header, 1),
            "on_header_end": self._end_header,
            "on_part_data": self._add_content,
            "on_part_end": lambda: self._pieces.append(Piece(self._name, self._file, b"")),
            "on_end": self._complete,
        }

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise MalformedRequestError(f"The form has more than {MOST_PARTS} parts.")
        self._name, self._file = "", None

    def _add_to_header(self, place: int, data: bytes, start: int, end: int) -> None:
        """Add to the name (0) or the value (1) of a header.

        Long headers are refused: the time to parse them grows with their length and blocks other requests.
        """
        self._header_bytes += end - start
        if self._header_bytes > MOST_HEADER_BYTES:
            raise MalformedRequestError(f"The headers of the form's parts have more than {MOST_HEADER_BYTES:,} bytes.")
        self._header[place] += data[start:end]

    def _end_header(self) -> None:
        (header, value), self._header = self._header, [b"", b""]
        if header.lower() != b"content-disposition":
            return
        _, parameters = parse_options_header(value)
        self._name = _text(parameters.get(b"name", b""))
        file = parameters.get(b"filename")
        self._file = None if file is None else _text(file)

    def _add_content(self, data: bytes, start: int, end: int) -> None:
        if start < end:
            self._pieces.append(Piece(self._name, self._file, data[start:end]))

    def _complete(self) -> None:
        self.is_complete = True


def _text(parameter: bytes) -> str:
    """A name as browsers send it: UTF-8, with percent-encoded line ends and quotes."""
    text = parameter.decode(errors="replace")
    return text.replace("%22", '"').replace("%0D", " ").replace("%0A", " ")
