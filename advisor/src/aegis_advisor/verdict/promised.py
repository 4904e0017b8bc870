"""The probability of small counts to a reader of rounded counts who knows the promised privacy.

A configuration puts each record into a class, and the records of a masked value are whole classes. So the limits of
every class apply to them, too: at least k records and l label values, at most the share of one label value (alpha,
beta, delta-disclosure) and the deviation (t) of a class, and at least its entropy. A row of 7 records, 5 and 2, that
base 3 publishes as 3 and 0 is the only possible one where k is 7.

Each row is examined separately: all its possible counts within the base, weighted by the probability of the published
ones.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, prod
from typing import Final

import numpy as np
import scipy

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray
from aegis_advisor.atoms import coarsening
from aegis_advisor.evidence import DROP, AttributeEvidence
from aegis_advisor.reconstruction.ipf import never
from aegis_advisor.verdict.model import LIKELY, Finding, PublishedCounts, Reason
from aegis_advisor.verdict.privacy_steps import label_totals
from aegis_advisor.verdict.rounded import RoundedTable, tables_of, tables_of_pairs

_MOST: Final = 20_000
"""The most combinations of counts of a row; larger rows are skipped, as so many labels are rarely all rounded one
way."""

_LEAST: Final = ("k", "l", "entropy_l")
"""Criteria with higher values for more privacy."""

_OFF: Final = 1e-9
_LARGEST: Final = 500.0

_Numbers = Mapping[str, float]


class _StoppedError(Exception):
    """`stop` was true before all rows were examined."""


def find_promised(published: PublishedCounts, stop: Callable[[], bool] = never) -> Iterator[Finding]:
    """Yield the tables of attributes with small counts that a reader knows by the promises on every class.

    Args:
        published: the counts. Readers are assumed to know that the label is sensitive.
        stop: called for each row; if true, its attribute or pair and the following are undecided.
    """
    releases = published.releases
    about = range(len(published.evidence)) if releases.known is None else sorted(releases.known)
    for place in about if releases.privacy else ():
        evidence = published.evidence[place]
        for tables in _by_rows(tables_of(place, evidence)):
            promised = _promised(published, {place: tables[0].mappings[0]})
            if not promised:
                continue
            rows = _RoundedRows.of(tables, published, stop)
            only_sizes = {name: each for name, each in promised.items() if name == "k"}
            try:
                known = max(rows.known(each, evidence) for each in (promised, only_sizes) if each)
            except _StoppedError:
                yield Finding(Reason.UNDECIDED, ("attributes", place), evidence.values)
                break
            if known:
                yield Finding(Reason.LIKELY, tables[0].path, known)
    if releases.privacy:
        yield from _of_pairs(published, frozenset(about), stop)


def _of_pairs(published: PublishedCounts, about: frozenset[int], stop: Callable[[], bool]) -> Iterator[Finding]:
    """Yield pair tables with known combinations of `k` to few records; this needs exact counts of one attribute.

    A combination is whole classes, too: it has no record, or at least k.
    """
    for both, table in tables_of_pairs(published):
        size = (
            _promised(published, dict(zip(both, table.mappings, strict=True))).get("k", 1.0) if about >= {*both} else 1
        )
        if not 1 < size <= published.small or table.base == 1 or table.within > 1:
            continue
        known = 0
        try:
            for place, each in zip(both, (table, table.transposed), strict=True):
                exact = _exact_records(published.evidence[place], place, each)
                known = max(
                    known,
                    0 if exact is None else _RoundedRows.of([each], published, stop).known_combinations(exact, size),
                )
        except _StoppedError:
            yield Finding(Reason.UNDECIDED, table.path, table.counts.size)
            return
        if known:
            yield Finding(Reason.LIKELY, table.path, known)


def _exact_records(evidence: AttributeEvidence, place: int, pair: RoundedTable) -> IntArray | None:
    """(rows,) the records of the rows of a pair table, by an exact table of the first attribute; None without one."""
    own = (each.sums(pair.mappings[0]) for each in tables_of(place, evidence) if each.base == 1)
    shown = next((counts for counts in own if counts is not None), None)
    if shown is None:
        return None
    return np.bincount(shown.group_of.ravel(), shown.table.counts.ravel(), len(pair.counts)).astype(np.int64)


def _by_rows(tables: Sequence[RoundedTable]) -> Iterator[list[RoundedTable]]:
    """Yield the rounded tables with the same rows; only one of each draw."""
    same: dict[bytes, list[RoundedTable]] = {}
    for table in tables:
        if table.base > 1 and table.within == 1:
            same.setdefault(table.mappings[0].tobytes(), []).append(table)
    for each in same.values():
        yield [table for place, table in enumerate(each) if not (table.once and place)]


def _promised(published: PublishedCounts, rows: Mapping[int, IntArray]) -> _Numbers:
    """Return the limits on the records of rows, by criterion; `rows`: by attribute, (values,) the row of each value.

    Where a person may have several records, `entropy_l` and `ordered_t`, which are about pairs of person and value,
    limit nothing here. Releases without suppression show all records. If every
    release separates the rows, each record is in a class of k, since only records in some release are counted.
    Generated tables show none.
    """
    releases = published.releases
    masked = [at for at in range(len(releases.codes)) if at not in releases.generated]
    finer = np.ones(len(releases.codes), dtype=bool)
    for place, own in rows.items():
        options = [_is_finer(published.evidence[place], option, own) for option in releases.options[place]]
        finer &= np.array(options, dtype=bool)[releases.codes[:, place]]
    cells = releases.cells or [0] * len(releases.codes)
    whole = [both == (0, 0) for both in zip(releases.suppressed, cells, strict=True)]
    stated = [
        {name: number for name, row in releases.privacy.items() if (number := row[at]) is not None} for at in masked
    ]
    held = [each for at, each in zip(masked, stated, strict=True) if finer[at] and whole[at]]
    if finer[masked].all() and all(cell == 0 for cell in cells):
        sizes = [each.get("k", 1.0) for each in stated]
        held += stated if len(stated) == 1 else [{"k": min(sizes, default=1.0)}]
    numbers: dict[str, float] = {}
    for name, number in ((name, number) for each in held for name, number in each.items()):
        stronger = max if name in _LEAST else min
        numbers[name] = stronger(numbers.get(name, number), number)
    if published.rows_per_person > 1:
        numbers = {name: each for name, each in numbers.items() if name not in {"entropy_l", "ordered_t"}}
    return {name: each for name, each in numbers.items() if not (name in {"k", "l"} and each <= 1)}


def _is_finer(evidence: AttributeEvidence, option: str, rows: IntArray) -> bool:
    mapping = None if option == DROP else evidence.mapping_of(option)
    return mapping is not None and coarsening(mapping, rows, int(mapping.max()) + 1) is not None


@dataclass(frozen=True, slots=True, eq=False)
class _RoundedRows:
    """The rows of rounded tables, and the possible counts of their cells.

    Attributes:
        least: (rows, labels) the least count of each cell.
        weights: (rows, labels, counts) the probability of the published counts given each count, from the least on.
        listed: (rows,) the number of listed values of each row, and so its minimum number of records.
        small: the largest small count.
        per_person: the most records of one person.
        stop: whether to stop before the next row.
    """

    least: IntArray
    weights: FloatArray
    listed: IntArray
    small: int
    per_person: int
    stop: Callable[[], bool]

    @classmethod
    def of(cls, tables: Sequence[RoundedTable], published: PublishedCounts, stop: Callable[[], bool]) -> "_RoundedRows":
        """Combine what tables with the same rows show."""
        least = np.max([np.maximum(0, table.counts - table.base + 1) for table in tables], axis=0)
        counts = least[..., np.newaxis] + np.arange(2 * max(table.base for table in tables) - 1)
        shown = [1 - np.abs(counts - table.counts[..., np.newaxis]) / table.base for table in tables]
        listed = np.bincount(tables[0].mappings[0], minlength=len(least))
        weights = np.maximum(0.0, shown).prod(axis=0)
        return cls(least, weights, listed, published.small, published.rows_per_person, stop)

    def known(self, promised: _Numbers, evidence: AttributeEvidence) -> int:
        """Count the cells, and sums of rows, that are most likely one small count by the promises alone."""
        keeps = _Limits.of(promised, label_totals(evidence), self.per_person)
        known = 0
        for row, counts, weights in self._each(keeps.may_exclude(self.least, self.weights.shape[2])):
            listed = weights * (counts.sum(axis=0) >= self.listed[row])
            kept = listed * keeps.admits(counts)
            known += sum(_is_disclosed(count, kept, listed, self.small) for count in (*counts, counts.sum(axis=0)))
        return known

    def known_combinations(self, exact: IntArray, size: float) -> int:
        """Count the cells that are most likely one small count, if each has no record or `size`, in rows of `exact`."""
        known = 0
        for row, counts, weights in self._each(np.ones(len(self.least), dtype=bool)):
            fitting = weights * (counts.sum(axis=0) == exact[row])
            kept = fitting * ((counts == 0) | (counts >= size)).all(axis=0)
            known += sum(_is_disclosed(count, kept, fitting, self.small) for count in counts)
        return known

    def _each(self, chosen: BoolArray) -> Iterator[tuple[int, IntArray, FloatArray]]:
        """Yield the chosen rows that may have small counts, with all possible counts (cells, n) and their weights."""
        cells, width = self.weights.shape[1:]
        if width**cells > _MOST:
            return
        offsets = np.indices([width] * cells).reshape(cells, -1)
        for row in np.flatnonzero((self.least <= self.small).any(axis=1) & chosen).tolist():
            if self.stop():
                raise _StoppedError
            weights = prod(self.weights[row, cell][offsets[cell]] for cell in range(cells))
            yield row, self.least[row][:, np.newaxis] + offsets, np.asarray(weights)


def _is_disclosed(counts: IntArray, kept: FloatArray, others: FloatArray, small: int) -> bool:
    return _is_known(counts, kept, small) and not _is_known(counts, others, small)


def _is_known(counts: IntArray, weights: FloatArray, small: int) -> bool:
    shares = np.bincount(np.minimum(counts, small + 1), weights, small + 2)
    return bool(shares[1:-1].max() > LIKELY * shares.sum() > 0)


@dataclass(frozen=True, slots=True, eq=False)
class _Limits:
    """The limits of every class, and so of every union of classes.

    Attributes:
        size: the minimum number of records (k).
        values: the minimum number of label values (l).
        entropy: the minimum entropy of the label, in nats (entropy_l).
        most: (labels,) the largest share of each label value (alpha, beta, delta_disclosure).
        beyond: the largest total excess of shares over those of the table (t).
        common: (labels,) the largest share of each label value in the table.
    """

    size: float
    values: float
    entropy: float
    most: FloatArray
    beyond: float
    common: FloatArray

    @classmethod
    def of(cls, promised: _Numbers, totals: Sequence[tuple[int, int]], per_person: int = 1) -> "_Limits":
        """Read privacy values, given the minimum and maximum records of each label value.

        If people have up to `per_person` records, the values are shares of people. Those with a value are at most
        `per_person` times as large a share of the table as their records. If they are the share q of a class, at most
        `per_person` q of its records have the value, to at least 1 - q of others.
        """
        least, most = np.array(totals, dtype=np.float64).T
        common = most / (most + least.sum() - least)
        times = min(1 + promised.get("beta", inf), exp(min(promised.get("delta_disclosure", inf), _LARGEST)))
        whole, beyond = np.minimum(1.0, per_person * common), promised.get("t", 1.0)
        share = np.minimum(promised.get("alpha", 1.0), times * whole)
        if per_person > 1:
            share, beyond = np.minimum(1.0, np.minimum(share, whole + beyond)), 1.0
            share = per_person * share / (1 + (per_person - 1) * share)
        return cls(
            promised.get("k", 1.0),
            promised.get("l", 1.0),
            float(np.log(max(1.0, promised.get("entropy_l", 1.0)))),
            share,
            beyond,
            common,
        )

    def may_exclude(self, least: IntArray, width: int) -> BoolArray:
        """(rows,) whether the limits may exclude some of the `width` counts from these (rows, labels) on."""
        others = least.sum(axis=1, keepdims=True) - least
        largest = (least + width - 1) / np.maximum(1, others + least + width - 1)
        few = (least > 0).sum(axis=1) < self.values
        shares = (largest > np.minimum(self.most, self.common + self.beyond)).any(axis=1)
        return np.asarray((least.sum(axis=1) < self.size) | few | shares | (self.entropy > 0) | (self.beyond < 1))

    def admits(self, counts: IntArray) -> BoolArray:
        """(tables,) whether rows with these counts (labels, tables) are within the limits."""
        sums = counts.sum(axis=0)
        shares = counts / np.maximum(sums, 1)
        kept = (sums >= self.size) & ((counts > 0).sum(axis=0) >= self.values)
        kept &= (shares <= self.most[:, np.newaxis] + _OFF).all(axis=0)
        kept &= np.maximum(0.0, shares - self.common[:, np.newaxis]).sum(axis=0) <= self.beyond + _OFF
        return np.asarray(kept & (scipy.special.entr(shares).sum(axis=0) >= self.entropy - _OFF))
