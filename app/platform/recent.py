"""A cache of what is derived from versions and answers."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar


class HasSize(Protocol):
    """An object with a known size."""

    @property
    def size(self) -> int:
        """Approximate size in bytes."""


Made = TypeVar("Made", bound=HasSize)

#: The default size of a cache in bytes.
MOST_BYTES, MOST_OF_ANSWERS = 64 * 1024 * 1024, 16 * 1024 * 1024


class Recent(Generic[Made]):
    """A cache, limited in bytes, of what is derived from immutable data.

    It drops the least recently used first. Callers check the right to read before every use.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._kept: OrderedDict[Hashable, Made] = OrderedDict()
        self._most_bytes = most_bytes
        self._bytes = 0

    def find(self, key: Hashable) -> Made | None:
        """The cached object; None if there is none."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def keep(self, key: Hashable, made: Made) -> None:
        """Cache an object unless it is too large. The key names everything it depends on, readers included."""
        if made.size > self._most_bytes // 2 or self.find(key) is not None:
            return
        self._kept[key] = made
        self._bytes += made.size
        while self._bytes > self._most_bytes:
            self._bytes -= self._kept.popitem(last=False)[1].size
