"""A cache of the data that decides which questions a version can answer."""

from collections import OrderedDict
from dataclasses import dataclass, field

from app.entries.model.configurations import ConfigurationTable
from app.entries.model.entries import AttributeOutline, Head

#: The number of cached versions, and the largest configuration table in cells and number of attributes of each.
MOST_KEPT, MOST_CELLS, MOST_ATTRIBUTES = 64, 100_000, 1_000


@dataclass(frozen=True, slots=True, eq=False)
class KnownVersion:
    """The cached data of a version, which never changes, except that more references are stored over time.

    Attributes:
        outline: its attributes.
        table: its configurations, without their ids.
        stored: the places of attributes whose references are known to be stored; these are never removed.
    """

    outline: tuple[AttributeOutline, ...]
    table: ConfigurationTable
    stored: set[int] = field(default_factory=set)


class RecentVersions:
    """The versions of recent questions."""

    def __init__(self) -> None:
        # With the digest, because another version may get the id after a backup is restored.
        self._kept: OrderedDict[tuple[int, str], KnownVersion] = OrderedDict()

    def find(self, head: Head) -> KnownVersion | None:
        """The cached data of a version, which may have been deleted since."""
        key = head.version_id, head.digest
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def keep(self, head: Head, known: KnownVersion) -> None:
        """Cache the data of a version, unless it is large."""
        if known.table.codes.size > MOST_CELLS or len(known.outline) > MOST_ATTRIBUTES:
            return
        self._kept[head.version_id, head.digest] = known
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
