"""What decides which questions a version can answer, kept for the versions that were asked about lately."""

from collections import OrderedDict
from dataclasses import dataclass, field

from app.entries.model.configurations import ConfigurationTable
from app.entries.model.entries import AttributeOutline, Head

#: So many versions are kept, each with so many cells in its configuration table and so many attributes at most.
MOST_KEPT, MOST_CELLS, MOST_ATTRIBUTES = 64, 100_000, 1_000


@dataclass(frozen=True, slots=True, eq=False)
class KnownVersion:
    """What is known of a version. It never changes, but for the references, of which more are stored over time.

    Attributes:
        outline: its attributes.
        table: its configurations, without their ids.
        stored: the places of attributes whose references have been seen in the catalogue; these stay there.
    """

    outline: tuple[AttributeOutline, ...]
    table: ConfigurationTable
    stored: set[int] = field(default_factory=set)


class RecentVersions:
    """The versions that were asked about lately."""

    def __init__(self) -> None:
        # The digest as well: after a backup is restored, another version may get the id.
        self._kept: OrderedDict[tuple[int, str], KnownVersion] = OrderedDict()

    def find(self, head: Head) -> KnownVersion | None:
        """What is known of a version that was asked about lately. It may have been deleted since."""
        key = head.version_id, head.digest
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def keep(self, head: Head, known: KnownVersion) -> None:
        """Keep what is known of a version, unless it is large."""
        if known.table.codes.size > MOST_CELLS or len(known.outline) > MOST_ATTRIBUTES:
            return
        self._kept[head.version_id, head.digest] = known
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
