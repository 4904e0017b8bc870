"""Small differences of two sums of records that overlap, which tables rounded apart show many times.

Each table rounded by itself is one more look at the records of its masked values, and at all their unions. Two maskings
that cut an attribute in two places have unions that differ by the records between the cuts. With looks enough, both
unions are known almost exactly, and so is their difference. A difference of sums of one draw is one look, and one look
never tells a count (`rounded`), so only tables that were rounded apart, and do not keep published sums, matter here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray
from aegis_advisor.reconstruction.ipf import never
from aegis_advisor.verdict.model import LIKELY, SMALL
from aegis_advisor.verdict.rounded_tables import RoundedTable

_MOST_TERMS: Final = 64
"""More roundings in one sum tell no more than these."""

_WIDEST: Final = 100
"""With a larger base, a small difference would need some 20,000 looks: (base / 0.3)^2 / 6."""

_MOST_UNIONS: Final = 4_000
"""Of more, which no provider's entry has had, differences are not decided."""


@dataclass(frozen=True, slots=True, eq=False)
class _Unions:
    """Unions of masked values, and what tables show of their records.

    Attributes:
        values: (unions, values) whether a value is in a union.
        sums: (unions, tables) the records of each by each table; -1 where a table does not show them.
        cells: (unions, tables) how many counts the table adds up for them.
        bases: (tables,) to multiples of which counts were rounded.
    """

    values: BoolArray
    sums: IntArray
    cells: IntArray
    bases: IntArray

    @classmethod
    def of(cls, tables: Sequence[RoundedTable]) -> "_Unions":
        """Return all masked values, and those up to each, where they are runs of values."""
        values = np.unique(np.concatenate([_unions(each.mappings[0]) for each in _distinct(tables)]), axis=0)
        sums, cells = zip(*(_shown(table, values) for table in tables), strict=True)
        bases = np.array([table.base for table in tables])
        return cls(values, np.stack(sums, axis=1), np.stack(cells, axis=1), bases)


def known_differences(tables: Sequence[RoundedTable], stop: Callable[[], bool] = never) -> int | None:
    """Return how many small differences of unions of an attribute's masked values a reader of these tables knows.

    Args:
        tables: all tables of the attribute, its values in the rows.
        stop: called for each two unions.

    Returns:
        How many; None if that is not decided: there are too many unions, looks contradict each other, or it is to stop.
    """
    looking = [table for table in tables if not table.keeps_sums and not table.once and table.base <= _WIDEST]
    if not any(table.base > 1 for table in looking):
        return 0
    drawn = [table for table in tables if table.once and table.within == 1 and table.base <= _WIDEST][:1]
    if sum(2 * len(table.counts) for table in _distinct([*drawn, *looking])) > _MOST_UNIONS:
        return None
    unions = _Unions.of([*drawn, *looking])
    posteriors: dict[int, tuple[int, FloatArray] | None] = {}
    known = set()
    for inner, outer in _close(unions):
        for place in (inner, outer):
            if place not in posteriors:
                posteriors[place] = _posterior(unions, place)
        less, more = posteriors[inner], posteriors[outer]
        if less is None or more is None or stop():
            return None
        between = unions.values[outer] & ~unions.values[inner]
        is_known = _is_known(less, more, int(between.sum()))
        if is_known is None:
            return None
        if is_known:
            known.add(between.tobytes())
    return len(known)


def _distinct(tables: Sequence[RoundedTable]) -> list[RoundedTable]:
    return list({table.mappings[0].tobytes(): table for table in tables}.values())


def _unions(mapping: IntArray) -> BoolArray:
    """(unions, values) Each group of a mapping (values,), and all up to each if the groups are runs of values."""
    each = np.asarray(mapping == np.unique(mapping)[:, np.newaxis])
    begins = np.argmax(each, axis=1)
    runs = np.count_nonzero(np.diff(mapping)) == len(each) - 1
    return np.concatenate([each, np.cumsum(each[np.argsort(begins)], axis=0) > 0]) if runs else each


def _shown(table: RoundedTable, values: BoolArray) -> tuple[IntArray, IntArray]:
    """(unions,) The records of each union by a table, -1 where a row is only partly in it, and the counts added up."""
    rows, width = table.counts.shape
    row_of = np.zeros((values.shape[1], rows), dtype=np.float32)
    row_of[np.arange(values.shape[1]), table.mappings[0]] = 1
    inside = values.astype(np.float32) @ row_of
    whole = inside == row_of.sum(axis=0)
    counted = whole & (inside > 0)
    sums = counted @ table.counts.sum(axis=1)
    return np.where((whole | (inside == 0)).all(axis=1), sums, -1), counted.sum(axis=1) * width


def _close(unions: _Unions) -> Iterator[tuple[int, int]]:
    """Yield the unions, one inside the other, whose published records differ so little that the rest may be small."""
    shown: BoolArray = unions.sums >= 0
    records = np.where(shown, unions.sums, 0).sum(axis=1) / np.maximum(shown.sum(axis=1), 1)
    members = unions.values.astype(np.float32)
    inside = np.asarray(members @ (1 - members).T == 0)
    np.fill_diagonal(inside, val=False)
    near = np.abs(records - records[:, np.newaxis]) <= SMALL + 2 * unions.bases.max()
    anew = np.count_nonzero(shown, axis=1) > 0
    both = inside & near & anew & anew[:, np.newaxis]
    yield from ((int(inner), int(outer)) for inner, outer in np.argwhere(both))


def _posterior(unions: _Unions, place: int) -> tuple[int, FloatArray] | None:
    """Return the least number of records of a union, and (numbers,) the probability of each; None if looks disagree.

    How many roundings add up in a sum is not declared: it is taken to be what explains the looks best, from one on.
    """
    seen = unions.sums[place] >= 0
    sums, cells, bases = unions.sums[place][seen], unions.cells[place][seen], unions.bases[seen]
    best, found = -np.inf, None
    for terms in (1 << power for power in range(int(cells.max()).bit_length())):
        least, logs = _log_likelihood(sums, np.minimum(cells, min(terms, _MOST_TERMS)), bases)
        total = float(np.logaddexp.reduce(logs, initial=-np.inf))
        if total > best:
            best, found = total, (least, np.exp(logs - total))
    return found


def _log_likelihood(sums: IntArray, terms: IntArray, bases: IntArray) -> tuple[int, FloatArray]:
    """Return the least number that all looks allow, and (numbers,) the logarithm of their likelihood from there."""
    off = terms * (bases - 1)
    least = int((sums - off).max())
    numbers = np.arange(least, int((sums + off).min()) + 1)
    logs = np.zeros(numbers.size)
    for look, added, base, most in zip(sums, terms, bases, off, strict=True):
        logs += _log_errors(int(base), int(added))[numbers - look + most]
    return least, logs


@lru_cache(maxsize=256)
def _log_errors(base: int, terms: int) -> FloatArray:
    """(errors,) the logarithm of the probability of each error of a sum of rounded counts, from the least on."""
    one = np.maximum(0.0, 1 - np.abs(np.arange(1 - base, base)) / base) / base
    return np.log(one if terms == 1 else np.convolve(np.exp(_log_errors(base, terms - 1)), one))


def _is_known(inner: tuple[int, FloatArray], outer: tuple[int, FloatArray], least: int) -> bool | None:
    """Whether a difference, which is at least that, is most likely one small count; None if it cannot be so large."""
    shares = np.convolve(outer[1], inner[1][::-1])
    numbers = np.arange(shares.size) + outer[0] - inner[0] - (inner[1].size - 1)
    possible = np.where(numbers >= least, shares, 0.0)
    if not possible.any():
        return None
    small = (numbers >= 1) & (numbers <= SMALL)
    return bool(possible[small].max(initial=0.0) > LIKELY * possible.sum())
