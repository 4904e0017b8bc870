"""Counts of classes that follow from privacy values because the other classes have to fill the table.

In a small table a class that agrees with a value may be impossible: the other records cannot be split into classes of
at least k records within the published values. So all ways to split the table are tried, for each label value and each
count of 1 to `SMALL`: is there one with no such count in any class? Sums of classes are the bits of a number, one for
each vector of counts up to those of the table, and adding a class is a shift.

In a large table this adds next to nothing. A class of less than half of the records leaves others that, as one
class, deviate by less than it does; and twice a class of less than a quarter has the same shares.
"""

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import product
from math import prod
from typing import Final

import numpy as np
import scipy

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray
from aegis_advisor.verdict.class_counts import ClassLimits
from aegis_advisor.verdict.model import SMALL

LARGEST: Final = 1000
"""The most vectors of counts of a table; larger ones are skipped: with two label values, most of more than 60
records."""

_TOGETHER: Final = 10_000
"""The most vectors of all tables that rounded label counts allow; otherwise all are skipped."""

_OFF: Final = 1e-12

Stated = tuple[tuple[str, float, float], ...]
"""By criterion, the range of the worst class: above the first number and up to the second."""

_Fact = tuple[str, int]


@lru_cache(maxsize=4096)
def counts_in_all_tables(stated: Stated, limits: ClassLimits) -> dict[str, int] | None:
    """Return the counts of 1 to `SMALL` that some class has in every table that fits; None if no table fits.

    Args:
        stated: The published values of the configuration; `entropy_l` is that of the worst class, the lowest.
        limits: The other limits of every class.

    Returns:
        By name: `value i`, the records of a class with the i-th label value, `class`, the size of a class, and `total
        i`, the records of the table. The smallest of several counts of one name. Empty if the table is too large.
    """
    sizes = [most + 1 for _, most in limits.totals]
    ranges = [range(max(1, least), most + 1) for least, most in limits.totals]
    if prod(sizes) > LARGEST or prod(sizes) * prod(map(len, ranges)) > _TOGETHER:
        return {}
    left: set[_Fact] | None = None
    for totals in product(*ranges):
        facts = _Table(totals, stated, limits).in_every_split(left)
        if facts is not None:
            own = set(_of_totals(totals, limits))
            left = facts | (own if left is None else own & left)
        if left is not None and not left:
            return {}
    return None if left is None else dict(sorted(left, reverse=True))


def _of_totals(totals: tuple[int, ...], limits: ClassLimits) -> Iterator[_Fact]:
    """Yield the small totals that are not published."""
    for value, (total, (least, most)) in enumerate(zip(totals, limits.totals, strict=True)):
        if least < most and total <= SMALL:
            yield f"total {value}", total


class _Table:
    """The classes that a table with these totals may have.

    Attributes:
        facts: the possible small counts of classes, with the positions of these classes.
    """

    def __init__(self, totals: tuple[int, ...], stated: Stated, limits: ClassLimits) -> None:
        shape = [total + 1 for total in totals]
        self._counts: IntArray = np.indices(shape).reshape(len(shape), -1).T
        whole, sizes = np.array(totals), self._counts.sum(axis=1)
        allowed = (sizes >= max(1, limits.size)) & ((self._counts > 0).sum(axis=1) >= limits.values)
        shares = self._counts / np.maximum(sizes, 1)[:, np.newaxis]
        allowed &= (shares.max(axis=1) <= limits.share + _OFF) & _gains_at_most(shares, whole, limits.times)
        self._reached = np.zeros(len(sizes), dtype=np.int64)
        self._all = 0
        for place, (name, low, high) in enumerate(stated):
            if (numbers := _numbers(name, shares, whole / whole.sum())) is not None:
                above, within = numbers > low * (1 + _OFF) + _OFF, numbers <= high * (1 + _OFF) + _OFF
                if name == "entropy_l":  # the value of the worst class; others have more
                    above, within = within, above
                allowed &= within
                self._reached |= above.astype(np.int64) << place
                self._all |= 1 << place
        self._places = np.flatnonzero(allowed)
        self.facts = dict(self._small(sizes))

    def _small(self, sizes: IntArray) -> Iterator[tuple[_Fact, BoolArray]]:
        columns = {f"value {value}": column for value, column in enumerate(self._counts.T)} | {"class": sizes}
        for (name, column), count in product(columns.items(), range(1, SMALL + 1)):
            if (has := column[self._places] == count).any():
                yield (name, count), has

    @cached_property
    def _fits(self) -> list[int]:
        """For each allowed class, the sums (as bits) that may contain it."""
        own = self._counts
        at_least = [
            [_bits(own[:, value] >= count) for count in range(int(own[:, value].max()) + 1)]
            for value in range(own.shape[1])
        ]
        everything = (1 << len(own)) - 1
        fits = []
        for counts in own[self._places].tolist():
            bits = everything
            for value, count in enumerate(counts):
                bits &= at_least[value][count]
            fits.append(bits)
        return fits

    def in_every_split(self, asked: Collection[_Fact] | None) -> set[_Fact] | None:
        """Return the counts (of those asked for) that some class has in every way to split the table; None if there is
        no way.
        """
        if self._is_possible(self.facts):  # nearly always true, and it rules out all of them
            return set()
        if not self._is_possible(()):
            return None
        facts = self.facts if asked is None else self.facts.keys() & asked
        return {fact for fact in facts if not self._is_possible((fact,))}

    def _is_possible(self, without: Iterable[_Fact]) -> bool:
        """Whether classes without these counts can make up the table and reach all values."""
        used = np.ones(len(self._places), dtype=bool)
        for fact in without:
            used &= ~self.facts[fact]
        reached, whole = self._reached[self._places], 1 << (len(self._counts) - 1)
        sums = {0: 1}
        for index in [*np.flatnonzero(used & (reached == 0)), *np.flatnonzero(used & (reached > 0))]:
            place, fit, by_class = int(self._places[index]), self._fits[index], int(reached[index])
            for state in sorted(sums):
                more = (sums[state] << place) & fit
                while more:
                    sums[state | by_class] = sums.get(state | by_class, 0) | more
                    more = (more << place) & fit
            if sums.get(self._all, 0) & whole:
                return True
        return False


def _bits(marked: BoolArray) -> int:
    return int.from_bytes(np.packbits(marked, bitorder="little").tobytes(), "little")


def _gains_at_most(shares: FloatArray, whole: IntArray, times: float) -> BoolArray:
    return np.asarray((shares * whole.sum() <= whole * times * (1 + _OFF)).all(axis=1))


def _numbers(name: str, shares: FloatArray, whole: FloatArray) -> FloatArray | None:
    """(classes,) the value of each class; None for a criterion that is not used here."""
    match name:
        case "alpha":
            numbers = shares.max(axis=1)
        case "beta":
            numbers = (shares / whole).max(axis=1) - 1
        case "delta_disclosure":
            off = np.log(np.where(shares > 0, shares, whole) / whole)
            numbers = np.abs(off).max(axis=1)
        case "entropy_l":
            numbers = np.exp(scipy.special.entr(shares).sum(axis=1))
        case "t":
            numbers = np.maximum(shares - whole, 0).sum(axis=1)
        case "ordered_t" if len(whole) == 2:  # noqa: PLR2004 - the order does not matter
            numbers = np.abs(shares - whole).max(axis=1)
        case _:
            return None
    return np.asarray(numbers)
