"""Parts of a comparison: the number of counts, those that differ, and what may be posted about them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from aegis_provider.counting.counts import Counts, Partition
from aegis_sdk.wire import MOST_DIFFERENCES, Difference, EvidenceTable

_LONG: Final = 200
"""Maximum length of texts, in characters."""
_TOGETHER: Final = " | "
_MORE: Final = "..."


@dataclass(frozen=True)
class UnknownText:
    """A text of the file that the entry does not list. It may be a raw value, so it stays on the consumer's machine.

    Attributes:
        attribute: The attribute; `None` for the label.
        text: The text, cut if it is long.
        records: Its number of records.
    """

    attribute: str | None
    text: str
    records: int


@dataclass(frozen=True)
class Part:
    """A part of a comparison.

    Attributes:
        cells: The number of compared counts.
        differing: How many of them differ beyond the tolerance.
        first: The first of these, without unpublished texts of the file.
        unknown: The first unpublished texts.
    """

    cells: int
    differing: int = 0
    first: tuple[Difference, ...] = ()
    unknown: tuple[UnknownText, ...] = ()

    @classmethod
    def of(
        cls, published: Counts, delivered: Counts, less: Counts, more: Counts, tell: Callable[..., Difference]
    ) -> Self:
        """Compare counts.

        Args:
            published: The counts of the entry.
            delivered: The counts of the file.
            less: How much lower a delivered count may be.
            more: How much higher it may be.
            tell: Makes a `Difference` from the place of a cell and its two counts.
        """
        off = published - delivered
        places = np.argwhere((off > less) | (off < -more))
        first = (tuple(map(int, at)) for at in places[:MOST_DIFFERENCES])
        return cls(published.size, len(places), tuple(tell(at, int(published[at]), int(delivered[at])) for at in first))

    @classmethod
    def together(cls, parts: Iterator["Part"]) -> Self:
        """Return the combination of all parts."""
        every = list(parts)
        first = tuple(one for part in every for one in part.first)[:MOST_DIFFERENCES]
        unknown = tuple(one for part in every for one in part.unknown)[:MOST_DIFFERENCES]
        return cls(sum(each.cells for each in every), sum(each.differing for each in every), first, unknown)

    @classmethod
    def of_unknown(cls, table: EvidenceTable | None, counts: Mapping[str, int]) -> Self:
        """Return the part for unlisted texts of an attribute, or of the label; it reports only their number."""
        if not counts:
            return cls(0)
        names, maskings = ((), ()) if table is None else ((table.attribute,), (table.masking,))
        told = difference_of(names, maskings, (), None, None, len(counts), "unknown")
        attribute = None if table is None else table.attribute
        first = [UnknownText(attribute, _shortened(text), number) for text, number in counts.items()]
        return cls(len(counts), len(counts), (told,), tuple(first[:MOST_DIFFERENCES]))


def names_of(texts: Sequence[str], partition: Partition, group: int) -> str:
    """Return the masked values of a group, unless there are too many; most groups have one."""
    names: list[str] = []
    for place in np.flatnonzero(partition.groups == group).tolist():
        if sum(map(len, names)) > _LONG:
            return _TOGETHER.join([*names, _MORE])
        names.append(_shortened(texts[place]))
    return _TOGETHER.join(names)


def difference_of(
    attributes: tuple[str, ...],
    maskings: tuple[str, ...],
    values: tuple[str, ...],
    label: str | None,
    published: int | None,
    delivered: int,
    rule: str,
) -> Difference:
    """Return a difference."""
    document = {
        "attributes": list(attributes),
        "maskings": list(maskings),
        "values": list(values),
        "label": label,
        "published": published,
        "delivered": delivered,
        "rule": rule,
    }
    return Difference.model_validate(document)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]}{_MORE}"
