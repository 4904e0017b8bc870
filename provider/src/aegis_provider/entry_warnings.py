"""Warnings about disclosures in an entry that its provider may not expect."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np

from aegis_provider.counting.counts import Counts
from aegis_sdk.wire import EntryDocument

SMALL: Final = 5
"""Statistical offices commonly treat counts below 5 as small."""


@dataclass(frozen=True)
class SmallCounts:
    """The number of an entry's counts from 1 to below `SMALL`, and the smallest of them; 0 without any."""

    counts: int
    smallest: int


@dataclass(frozen=True)
class Exposure:
    """Disclosures in an entry that its provider may not expect.

    Attributes:
        nearly_unique: Attributes with two records per value or fewer. Their domains alone disclose much.
        below_k: Number of masked values, and pairs of them, with counts below `k`.
        small: The small counts of all tables.
    """

    nearly_unique: tuple[str, ...]
    below_k: int
    small: SmallCounts

    @classmethod
    def of(cls, entry: EntryDocument) -> "Exposure":
        """Return the exposure of this entry; rounded and noisy counts disclose neither `k` nor small counts."""
        control = entry.disclosure_control
        if control is not None and (control.rounded_to or control.epsilon):
            return cls(nearly_unique(entry), 0, SmallCounts(0, 0))
        return cls(nearly_unique(entry), counted_below_k(entry), small_counts(entry))

    def in_words(self) -> Iterator[str]:
        """Yield a sentence per disclosure, except small counts."""
        for attribute in self.nearly_unique:
            yield f"{attribute!r} is nearly unique, and the entry lists each of its values"
        if self.below_k:
            yield (
                f"{self.below_k} masked values, or pairs of them, are published although they have fewer records than "
                "the k of a release that suppresses them"
            )


def nearly_unique(entry: EntryDocument) -> tuple[str, ...]:
    """Return the attributes with two records per value or fewer."""
    return tuple(attribute.name for attribute in entry.attributes if 2 * len(attribute.domain) > max(entry.records, 20))


def counted_below_k(entry: EntryDocument) -> int:
    """Count the masked values, and pairs of them, with counts below `k`.

    Releases that reach `k` by leaving out records do not show them, but the entry counts the whole table.
    """
    releases = [
        configuration
        for configuration in entry.masked
        if configuration.suppressed and "k" in (configuration.privacy or {})
    ]
    if not releases:
        return 0
    k = min((release.privacy or {})["k"] for release in releases)
    shown = {item for release in releases for item in release.maskings.items()}
    return sum(0 < count < k for count in _records_of(entry, shown))


def small_counts(entry: EntryDocument) -> SmallCounts:
    """Count the small counts of all tables: histograms, unmasked and masked joint counts, and pair counts."""
    small = [counts[(counts > 0) & (counts < SMALL)] for counts in tables_in(entry)]
    return SmallCounts(sum(map(len, small)), min((int(each.min()) for each in small if len(each)), default=0))


def _records_of(entry: EntryDocument, shown: set[tuple[str, str]]) -> Iterator[int]:
    """Yield the number of records of each shown masked value and each pair of them."""
    for attribute in entry.attributes:
        tables = [(attribute.joint, "identity"), *((each.joint, each.id) for each in attribute.maskings)]
        for joint, masking in tables:
            if joint is not None and (attribute.name, masking) in shown:
                yield from (sum(row) for row in joint)
    for pair in entry.pairs:
        if pair.joint is not None and shown.issuperset(zip(pair.attributes, pair.maskings, strict=True)):
            yield from chain.from_iterable(pair.joint)


def tables_in(entry: EntryDocument) -> Iterator[Counts]:
    """Yield the counts of every table, flattened."""
    tables: list[list[int] | list[list[int]] | None] = [entry.label.histogram]
    for attribute in entry.attributes:
        tables += [attribute.histogram, attribute.joint, *(masking.joint for masking in attribute.maskings)]
    tables += [pair.joint for pair in entry.pairs]
    yield from (np.array(table, dtype=np.int64).ravel() for table in tables if table is not None)
