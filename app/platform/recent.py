"""What was made of the versions and answers that were read lately."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar


class HasSize(Protocol):
    """Something that knows how many bytes it takes."""

    @property
    def size(self) -> int:
        """How many bytes it takes, more or less."""


Made = TypeVar("Made", bound=HasSize)

#: The most bytes that are kept of versions, and of answers.
MOST_BYTES, MOST_OF_ANSWERS = 64 * 1024 * 1024, 16 * 1024 * 1024


class Recent(Generic[Made]):
    """What was made of something that never changes, up to a number of bytes.

    What was not used for the longest time goes first. Who may read it is decided before, for each request.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._kept: OrderedDict[Hashable, Made] = OrderedDict()
        self._most_bytes = most_bytes
        self._bytes = 0

    def find(self, key: Hashable) -> Made | None:
        """What was made, if it is kept."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def keep(self, key: Hashable, made: Made) -> None:
        """Keep what was made, unless it is too large. The key tells all that it depends on, readers included."""
        if made.size > self._most_bytes // 2 or self.find(key) is not None:
            return
        self._kept[key] = made
        self._bytes += made.size
        while self._bytes > self._most_bytes:
            self._bytes -= self._kept.popitem(last=False)[1].size
