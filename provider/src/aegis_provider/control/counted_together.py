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
"""So many bases more have to be published than are needed, since any published count may be too large by a base."""
Masked: TypeAlias = tuple[str, str]
"""An attribute and one of its maskings, or `identity`."""


@dataclass(eq=False)
class Pools:
    """Where the masked values of each masking are counted in pairs: chosen once, whatever the other attribute is.

    Neighbouring masked values are counted together until they have enough records, at the place of the last of them.
    What is left at the end is counted with the last of these. Which values these are follows from published counts
    alone: if exact ones decided, a reader could conclude from the places how many records a value has.

    Attributes:
        base: The base of the multiples.
        whole: The published number of records.
        records: (masked values,) the published records of each, by masking; None if none are published.
        partners: The most masked values of another attribute in a pair.
        times: How many times as many records are enough.
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
        """(size,) The published records that are counted at each place.

        Raises:
            ControlError: These are not all records.
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
    """Return the members of a pair that tell its rounded counts.

    They add up to the published records of the masked values, so that no pair is one more look at these.

    Args:
        counts: (first, second) the exact counts.
        masked: The two maskings.
        pools: Where masked values are counted.
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
    all of its cells that are not 0 are 1, so a cell that was rounded up would be known to be 1: with `r` records in `c`
    cells and all tables equally probable, it is with the probability `(c / (r + c))^2`, about. With fewer records than
    the base, all cells could be 0.

    Args:
        cells: How many masked values the other attribute has.
        base: The base to multiples of which the counts are rounded.
    """
    return max(_SMALL + 1, cells // _CELLS_PER_RECORD + 1, base)


def _enough(cells: int, base: int) -> int:
    """Return how many records have to be published so that there are hardly ever fewer than the fewest.

    A published count above 0 can stand for one record. Of four single records, three or more were rounded up to 5 with
    a probability of 3 %, all four with 0.2 %.
    """
    return fewest_counted(cells, base) + _BASES * base


def _places(size: int, records: Counts | None, enough: int) -> Places:
    """(size,) The place where each masked value is counted, by the records of each; one for all if none are known."""
    places, begin, together = np.full(size, size - 1), 0, 0
    for place, number in enumerate([] if records is None else records.tolist()):
        together += number
        if together >= enough:
            places[begin : place + 1] = place
            begin, together = place + 1, 0
    if begin > 0:
        places[begin:] = begin - 1
    return places
