"""What was made of the versions that were read lately."""

from collections import OrderedDict
from typing import Generic, Protocol, TypeVar

from app.domain.entries import Head


class HasSize(Protocol):
    """Something that knows how many bytes it takes."""

    @property
    def size(self) -> int:
        """How many bytes it takes, more or less."""


Made = TypeVar("Made", bound=HasSize)

#: The most bytes that are kept.
MOST_BYTES = 64 * 1024 * 1024


class RecentByVersion(Generic[Made]):
    """What was made of versions, up to a number of bytes; what was not used for the longest time goes first.

    Versions never change. Who may read one is decided before, for each request.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        # The digest as well: after a backup is restored, another version may get the id.
        self._kept: OrderedDict[tuple[int, str, bool], Made] = OrderedDict()
        self._most_bytes = most_bytes
        self._bytes = 0

    def find(self, head: Head, in_full: bool) -> Made | None:  # noqa: FBT001 -- part of the key
        """What was made of a version, for owners (`in_full`) or for others."""
        key = head.version_id, head.keyed_digest, in_full
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def keep(self, head: Head, in_full: bool, made: Made) -> None:  # noqa: FBT001 -- part of the key
        """Keep what was made of a version, unless it is too large."""
        if made.size > self._most_bytes // 2 or self.find(head, in_full) is not None:
            return
        self._kept[head.version_id, head.keyed_digest, in_full] = made
        self._bytes += made.size
        while self._bytes > self._most_bytes:
            self._bytes -= self._kept.popitem(last=False)[1].size
