"""Content codings (RFC 9110, section 8.4.1): gzip (RFC 1952) and zstd (RFC 8878)."""

import sys
import zlib
from collections.abc import Iterator, Mapping
from typing import Protocol

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

GZIP, ZSTD = "gzip", "zstd"

#: The codings, the one that we prefer first.
CODINGS = (ZSTD, GZIP)

#: A body that grows more than so many times is a bomb, once it has more than these bytes. Counts that are mostly zeros
#: grow up to 300 times; gzip can make it 1,030, and zstd far more.
BOMB_RATIO, BOMB_BYTES = 500, 4 * 2**20

#: The most members (gzip) or frames (zstd) of a body, each of which costs time even if it is empty.
MOST_PARTS = 2_000

#: Bytes that are inflated and that come out at a time, so that little is held that the limits do not allow.
_IN, _OUT = 16 * 1024, 256 * 1024

#: The most bytes that zstd may look back, as a power of 2 (RFC 9659).
_WINDOW: Mapping[int, int] = {zstd.DecompressionParameter.window_log_max: 23}

# Of long answers, the next levels save a few percent (zstd: nothing) and take twice as long.
_GZIP_LEVEL, _ZSTD_LEVEL = 2, 1


class CodingError(Exception):
    """The bytes are not what their coding says."""


class InflatedSizeError(Exception):
    """What comes out is too large, for the limit or for what went in."""


def deflated(body: bytes, coding: str) -> bytes:
    """The body in one of the `CODINGS`. Slow for large bodies."""
    if coding == ZSTD:
        return zstd.compress(body, _ZSTD_LEVEL)
    return zlib.compress(body, _GZIP_LEVEL, wbits=zlib.MAX_WBITS | 16)


class Inflater:
    """Inflates a body that arrives in pieces.

    Args:
        coding: one of the `CODINGS`.
        limit: the most bytes that may come out.
    """

    def __init__(self, coding: str, limit: int) -> None:
        self._begin = _ZstdFrame if coding == ZSTD else _GzipMember
        self._limit = limit
        self._part: _Part | None = None
        self._parts = self._taken = self._given = 0

    @property
    def is_complete(self) -> bool:
        """Whether the body may end here: something has come, and nothing is left unfinished."""
        return self._parts > 0 and self._part is None

    def feed(self, data: bytes) -> list[bytes]:
        """Inflate the next piece. Slow: a large piece takes a thread.

        Raises:
            CodingError: it is not what the coding says, or has too many parts.
            InflatedSizeError: too much comes out.
        """
        view = memoryview(data)
        slices = (bytes(view[start : start + _IN]) for start in range(0, len(data), _IN))
        return [out for piece in slices for out in self._inflated(piece)]

    def _inflated(self, data: bytes) -> Iterator[bytes]:
        self._taken += len(data)
        while data or (self._part is not None and self._part.has_more):
            part = self._part or self._next_part()
            try:
                out, data = part.inflate(data)
            except (zlib.error, zstd.ZstdError):
                raise CodingError from None
            self._count(len(out))
            yield out
            self._part = None if part.is_over else part

    def _next_part(self) -> "_Part":
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise CodingError
        return self._begin()

    def _count(self, size: int) -> None:
        self._given += size
        if self._given > self._limit or self._given > max(BOMB_BYTES, BOMB_RATIO * self._taken):
            raise InflatedSizeError


class _Part(Protocol):
    """A member or a frame, by which a body may consist of several.

    Attributes:
        is_over: whether its end has been read.
        has_more: whether more comes out of what has been taken already.
    """

    @property
    def is_over(self) -> bool: ...

    @property
    def has_more(self) -> bool: ...

    def inflate(self, data: bytes) -> tuple[bytes, bytes]:
        """Some bytes that come out, and those of `data` that have not been taken."""


class _GzipMember:
    def __init__(self) -> None:
        self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self.has_more = False

    @property
    def is_over(self) -> bool:
        return self._inflater.eof

    def inflate(self, data: bytes) -> tuple[bytes, bytes]:
        out = self._inflater.decompress(data, _OUT)
        self.has_more = len(out) == _OUT and not self.is_over
        return out, self._inflater.unused_data if self.is_over else self._inflater.unconsumed_tail


class _ZstdFrame:
    def __init__(self) -> None:
        self._inflater = zstd.ZstdDecompressor(options=_WINDOW)

    @property
    def is_over(self) -> bool:
        return self._inflater.eof

    @property
    def has_more(self) -> bool:
        return not self._inflater.eof and not self._inflater.needs_input

    def inflate(self, data: bytes) -> tuple[bytes, bytes]:
        out = self._inflater.decompress(data, _OUT)
        return out, self._inflater.unused_data if self.is_over else b""
