"""A cache of results, shared by questions about the same attributes."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

T = TypeVar("T")

MOST = 2_000
"""The most cached results. Fourteen measures of seven attributes are some four hundred."""


class Memory:
    """Cached results by key. A memory belongs to one set of evidence and references, and must not be used with
    others.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, Any] = {}

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The result with this key, computed on first use. Callers must not change it."""
        if key not in self._known:
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[key] = compute()
        return cast("T", self._known[key])
