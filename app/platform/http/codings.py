"""Inflating gzip (RFC 1952), the only supported content coding (RFC 9110, section 8.4.1)."""

import zlib
from collections.abc import Iterator

#: A body above this size that inflates by more than this factor is a bomb. Counts that are mostly zeros inflate up to
#: 300 times; gzip's limit is 1,030.
BOMB_RATIO, BOMB_BYTES = 500, 4 * 2**20

#: The most gzip members of a body; even an empty one costs time.
MOST_MEMBERS = 2_000

#: Bytes that go in and come out at a time, so that little exceeds the limits before it is refused.
_IN, _OUT = 16 * 1024, 256 * 1024


class CodingError(Exception):
    """The bytes are not valid in their declared coding."""


class InflatedSizeError(Exception):
    """The inflated body exceeds the limit or the ratio."""


class Inflater:
    """Inflates a body in pieces.

    Args:
        limit: the most inflated bytes.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._members = self._taken = self._given = 0
        self.is_complete = False
        """Whether the body may end here: it is not empty, and its last member is complete."""

    def feed(self, data: bytes) -> list[bytes]:
        """Inflate the next piece. Slow: run large pieces in a thread.

        Raises:
            CodingError: not gzip, or too many members.
            InflatedSizeError: the inflated body is too large.
        """
        slices = (data[start : start + _IN] for start in range(0, len(data), _IN))
        return [out for piece in slices for out in self._inflated(piece)]

    def _inflated(self, data: bytes) -> Iterator[bytes]:
        self._taken += len(data)
        has_more = False
        while data or has_more:
            if self.is_complete:
                self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            try:
                out = self._member.decompress(data, _OUT)
            except zlib.error:
                raise CodingError from None
            self.is_complete = self._member.eof
            data = self._member.unused_data if self.is_complete else self._member.unconsumed_tail
            has_more = len(out) == _OUT and not self.is_complete
            self._count(len(out))
            yield out

    def _count(self, size: int) -> None:
        self._given += size
        self._members += self.is_complete
        if self._members > MOST_MEMBERS:
            raise CodingError
        if self._given > self._limit or self._given > max(BOMB_BYTES, BOMB_RATIO * self._taken):
            raise InflatedSizeError
