"""Rounded pair counts in which masked values with few records are counted with others."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np

from aegis_provider.control.control import ControlError
from aegis_provider.control.dependent_rounding import RandomBytes
from aegis_provider.control.kept_sums import rounded_to_sums
from aegis_provider.counting.counts import Counts, Places

_SMALL: Final = 4
_CELLS_PER_RECORD: Final = 14
_BASES: Final = 3
"""The published records must exceed the required ones by this many bases, since any published count may be too large by
a base."""
Masked: TypeAlias = tuple[str, str]
"""An attribute and one of its maskings, or `identity`."""


@dataclass(eq=False)
class Pools:
    """The places where masked values are counted in pairs: chosen once per masking, for all other attributes.

    Neighbouring masked values are counted together until they have enough records, at the place of the last of them.
    The remainder is counted with the last group. The places follow from published counts alone: from places chosen by
    exact counts a reader could infer the records of a value.

    Attributes:
        base: The base of the multiples.
        whole: The published number of records.
        records: (masked values,) the published records of each, by masking; None if unpublished.
        partners: The most masked values of another attribute in a pair.
        times: The multiple of the required records that is enough.
    """

    base: int
    whole: int
    records: Mapping[Masked, Counts | None]
    partners: Mapping[Masked, int]
    times: dict[Masked, int] = field(default_factory=lambda: defaultdict(lambda: 1))

    def places(self, masked: Masked, size: int) -> Places:
        """(size,) The place where each masked value is counted."""
        enough = self.times[masked] * _enough(self.partners[masked], self.base)
        return _places(size, self.records[masked], enough)

    def sums(self, masked: Masked, places: Places) -> Counts:
        """(size,) The published records counted at each place.

        Raises:
            ControlError: The masking does not count all records.
        """
        records = self.records[masked]
        if records is None:
            records = self.whole * (np.arange(places.size) == places)
        pooled: Counts = np.bincount(places, records, places.size).astype(np.int64)
        if pooled.sum() != self.whole:
            attribute, masking = masked
            raise ControlError(f"{masking!r} of {attribute!r} does not count all records: summarize without pairs")
        return pooled


def counted_together(
    counts: Counts, masked: tuple[Masked, Masked], pools: Pools, random_bytes: RandomBytes
) -> Mapping[str, Any]:
    """Return the members of a pair for its rounded counts.

    They add up to the published records of the masked values, so that a pair reveals nothing new about these.

    Args:
        counts: (first, second) the exact counts.
        masked: The two maskings.
        pools: The places where masked values are counted.
        random_bytes: The source of randomness.

    Raises:
        ControlError: A masking does not count all records.
    """
    rows, columns = (pools.places(each, size) for each, size in zip(masked, counts.shape, strict=True))
    pooled = np.zeros_like(counts)
    np.add.at(pooled, (rows[:, np.newaxis], columns[np.newaxis]), counts)
    sums = pools.sums(masked[0], rows), pools.sums(masked[1], columns)
    joint, within = rounded_to_sums(pooled, sums, pools.base, random_bytes)
    together = any((places != np.arange(places.size)).any() for places in (rows, columns))
    where = {"counted_with": [rows.tolist(), columns.tolist()]} if together else {}
    return {"rounded_to": pools.base, "within": within, "joint": joint.tolist(), **where}


def fewest_counted(cells: int, base: int) -> int:
    """Return the fewest records of a masked value that should have rounded pair counts of its own.

    A value with at most 4 records should have none. Nor should one with at most one record for every 14 cells. Nearly
    all of its nonzero cells are 1, so a cell that was rounded up would be known to be 1: its probability is about `(c /
    (r + c))^2`, with `r` records in `c` cells and all tables equally probable. With fewer records than the base, all
    cells could be 0.

    Args:
        cells: The number of masked values of the other attribute.
        base: The base of the rounding.
    """
    return max(_SMALL + 1, cells // _CELLS_PER_RECORD + 1, base)


def _enough(cells: int, base: int) -> int:
    """Return the published records with which a value hardly ever has fewer than `fewest_counted`.

    A published count above 0 can stand for one record. Of four single records, three or more are rounded up to 5 with a
    probability of 3 %, all four with 0.2 %.
    """
    return fewest_counted(cells, base) + _BASES * base


def _places(size: int, records: Counts | None, enough: int) -> Places:
    """(size,) The place where each masked value is counted, by the records of each; a single place if these are
    unknown.
    """
    places, begin, together = np.full(size, size - 1), 0, 0
    for place, number in enumerate([] if records is None else records.tolist()):
        together += number
        if together >= enough:
            places[begin : place + 1] = place
            begin, together = place + 1, 0
    if begin > 0:
        places[begin:] = begin - 1
    return places
