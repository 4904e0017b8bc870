"""Pages of long lists."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

import msgspec

Row = TypeVar("Row")
Part = TypeVar("Part")

#: Attributes and configurations per page of an entry.
PER_PAGE = 25


@dataclass(frozen=True, slots=True)
class Slice(Generic[Row]):
    """A page of a list.

    Attributes:
        pages: the number of pages; 1 for an empty list.
        start: the number of the first row of the page, from 1.
    """

    rows: Sequence[Row]
    number: int
    pages: int
    total: int
    start: int

    @classmethod
    def of(
        cls, parts: Sequence[bytes], number: int, total: int, decoder: msgspec.json.Decoder[tuple[Row, ...]]
    ) -> Self:
        """A page of an index; the last one if `number` is too large."""
        number = min(number, max(len(parts), 1))
        rows = read_part(parts[number - 1], decoder) if parts else ()
        return cls(rows, number, max(len(parts), 1), total, (number - 1) * PER_PAGE + 1)

    @classmethod
    def cut(cls, rows: Sequence[Row], number: int, per_page: int) -> Self:
        """A page of a complete list."""
        pages = max(-(-len(rows) // per_page), 1)
        number = min(number, pages)
        start = (number - 1) * per_page
        return cls(rows[start : start + per_page], number, pages, len(rows), start + 1)

    @property
    def end(self) -> int:
        """The number of the last row of the page."""
        return self.start + len(self.rows) - 1


def read_part(part: bytes, decoder: msgspec.json.Decoder[Part]) -> Part:
    """Decode a part of an index."""
    return decoder.decode(zlib.decompress(part))
