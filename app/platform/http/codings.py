"""Bodies that are compressed by gzip (RFC 1952), the one content coding that is read and sent (RFC 9110, 8.4.1)."""

import zlib
from collections.abc import Iterator

#: A body that grows more than so many times is a bomb, once it has more than these bytes. Counts that are mostly zeros
#: grow up to 300 times; gzip can make it 1,030.
BOMB_RATIO, BOMB_BYTES = 500, 4 * 2**20

#: The most members of a body, each of which costs time even if it is empty.
MOST_MEMBERS = 2_000

#: Bytes that are inflated and that come out at a time, so that little is held that the limits do not allow.
_IN, _OUT = 16 * 1024, 256 * 1024


class CodingError(Exception):
    """The bytes are not what their coding says."""


class InflatedSizeError(Exception):
    """What comes out is too large, for the limit or for what went in."""


class Inflater:
    """Inflates a body that arrives in pieces.

    Args:
        limit: the most bytes that may come out.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._members = self._taken = self._given = 0
        self.is_complete = False
        """Whether the body may end here: something has come, and nothing is left unfinished."""

    def feed(self, data: bytes) -> list[bytes]:
        """Inflate the next piece. Slow: a large piece takes a thread.

        Raises:
            CodingError: it is not gzip, or has too many members.
            InflatedSizeError: too much comes out.
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
