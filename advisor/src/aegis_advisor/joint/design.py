"""The correlations of all maskings with each other and with the label, as used by joint measures.

Orthonormal functions of masked values, and the correlations between those of two masked attributes.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple, Self

import numpy as np

from aegis_advisor.arrays import BoolArray, Codes, FloatArray, IntArray
from aegis_advisor.errors import MissingCountsError, TooManyColumnsError
from aegis_advisor.evidence import DROP, IDENTITY, AttributeEvidence, PairCounts, sum_variances
from aegis_advisor.evidence.attribute import exact_counts
from aegis_advisor.joint.pair_tables import PairTables
from aegis_advisor.measures.numbers import standardised


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """An orthonormal basis of the functions of a masked value with mean 0.

    With shares `p` of the masked values, the columns of `Q diag(p)^-1/2` are such a basis if those of `Q` are
    orthonormal and orthogonal to `sqrt(p)`. `Q` is a Householder reflection without one of its columns. It is applied
    without being formed, since it has as many entries as the square of the number of masked values. Only `spread` and
    `products`, for inexact counts, apply it to that many columns.

    Masked values with few records can be pooled with their neighbours. All functions are then equal on them.

    Attributes:
        held: (n,) the masked values with records.
        pool: (n,) the pool of each, from 0; one pool each without pooling.
        root: (pools,) `sqrt(p)` of each pool.
        axis: (pools,) the axis of the reflection, which takes the unit vector of `pivot` to minus `root`.
        pivot: the most frequent pool.
    """

    held: IntArray
    pool: IntArray
    root: FloatArray
    axis: FloatArray
    pivot: int

    @classmethod
    def of(cls, counts: IntArray | FloatArray, least: float = 0.0) -> Self:
        """Return the basis of a masked attribute with these counts (groups,), not all 0.

        Neighbours are pooled until they have at least `least` records together.
        """
        held = np.flatnonzero(counts)
        pool = _pools(counts[held], least)
        root = np.sqrt(np.bincount(pool, counts[held]) / counts.sum())
        pivot = int(root.argmax())
        axis = root.copy()
        axis[pivot] += 1.0  # the other sign would cancel digits
        return cls(held, pool, root, axis, pivot)

    @property
    def size(self) -> int:
        """The number of dimensions: pools, minus one."""
        return self.root.size - 1

    def project(self, table: FloatArray) -> FloatArray:
        """Express the rows of a table (groups, n) in this basis: (size, n)."""
        held = table[self.held]
        if self.root.size < self.held.size:
            held = np.add.reduceat(held, np.flatnonzero(np.diff(self.pool, prepend=-1)), axis=0)
        scaled = held / self.root[:, np.newaxis]
        scaled -= np.outer(self.axis * (2 / (self.axis @ self.axis)), self.axis @ scaled)
        return np.delete(scaled, self.pivot, axis=0)

    def products(self) -> FloatArray:
        """(size, size) the products of every two functions, summed over the masked values."""
        functions = self.project(np.eye(int(self.held.max()) + 1))[:, self.held]
        return np.asarray(functions @ functions.T)

    def spread(self, least: float = 0.0) -> FloatArray:
        """(size,) the sum of squares of each function over the masked values with at least this share of the records.

        With independent errors of variance `v` in the counts of `n` records, the correlation of two functions varies
        by `v / n^2` times the product of theirs.
        """
        every = self.project(np.eye(int(self.held.max()) + 1))[:, self.held]
        shares = np.square(self.root) / np.bincount(self.pool)
        return np.asarray(np.sum(np.square(every[:, shares[self.pool] >= least]), axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The single function of a label whose classes have scores, in the place of a `Basis`: the standardised scores.

    Attributes:
        numbers: (labels,) the scores, in their unit.
        functions: (1, labels) the standardised scores; (0, labels) if they do not vary.
    """

    numbers: FloatArray
    functions: FloatArray

    @classmethod
    def of(cls, counts: IntArray | FloatArray, numbers: FloatArray) -> Self:
        """Return the function for a label with these counts (labels,)."""
        scores = standardised(counts.astype(np.float64), numbers)[np.newaxis]
        return cls(numbers, scores if scores.any() else scores[:0])

    @property
    def size(self) -> int:
        """The number of functions: 1, or 0 if the scores do not vary."""
        return len(self.functions)

    def project(self, table: FloatArray) -> FloatArray:
        """Express the rows of a table (labels, n) in the function: (size, n)."""
        return self.functions @ table

    def products(self) -> FloatArray:
        """(size, size) the square of the function, summed over the classes."""
        return self.functions @ self.functions.T

    def spread(self) -> FloatArray:
        """(size,) the same sum."""
        return np.asarray(np.sum(np.square(self.functions), axis=1))


def _pools(counts: IntArray | FloatArray, least: float) -> IntArray:
    """(n,) The pool of each of these counts (n,); the remainder joins the last pool."""
    pool, records, number = np.zeros(counts.size, dtype=np.int64), 0.0, 0
    for place, count in enumerate(counts.tolist()):
        pool[place] = number
        records += count
        if records >= least:
            number, records = number + 1, 0.0
    return np.minimum(pool, max(number - 1, 0))


def correlation(
    joint: IntArray | FloatArray, rows: Basis, columns: Basis | Scored, *, exact: bool = True
) -> FloatArray:
    """The correlations (size of rows, size of columns) of two masked attributes, from their joint counts.

    No mean needs to be subtracted if the counts are exact, since all functions in both bases have mean 0. Sums of
    inexact counts differ from those of the bases, so the part explained by these sums alone is subtracted.
    """
    shares = joint / max(float(joint.sum()), 1.0)
    if not exact:
        shares -= np.outer(shares.sum(axis=1), shares.sum(axis=0))
    projected = rows.project(shares)
    return columns.project(projected.T).T


MOST_COLUMNS = 6_000
"""The most dimensions of all maskings together; the computation then takes up to 1 GB."""


@dataclass(frozen=True, slots=True, eq=False)
class Masked:
    """A masking that a configuration uses.

    Attributes:
        joint: (groups, labels) its joint counts with the label; not whole numbers if they are estimated.
        variance: the mean variance of each of them; 0 if they are exact.
    """

    id: str
    basis: Basis
    joint: IntArray | FloatArray
    variance: float = 0.0


Estimate = Callable[[AttributeEvidence, str], FloatArray | None]
"""Estimates the joint counts (groups, labels) of a masking from its inexact counts; None if there are none."""


@dataclass(frozen=True, slots=True, eq=False)
class Variance:
    """The variances of a design's correlations due to inexact counts.

    Attributes:
        correlations: (columns, columns) the variance of each correlation.
        labels: (columns,) the sum of the variances of the correlations with the label, over masked values with counts
            far above their errors: only these add to traces.
    """

    correlations: FloatArray
    labels: FloatArray


FAR = 10.0
"""From this many standard deviations above 0, the error of a count adds to a trace. Errors of smaller counts do not
simply add: a rounded count of 0, for example, carries no information at all."""


class PairPlace(NamedTuple):
    """Two attributes, the first before the second, and a code of each."""

    first: int
    second: int
    code: int
    other: int


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """The correlations that the traces of all configurations are computed from.

    Attributes:
        columns: per attribute and code, the columns of the masking in `correlations`; empty for a single masked value.
        correlations: (columns, columns); 0 for two maskings that no configuration uses together.
        labels: (columns, dimensions of the label), the correlations with the label.
        unknown: by two attributes, (options, options) which maskings are used together although their pair counts are
            not known.
        masked: per attribute and code, the masking; None if it is unused or has a single masked value.
        label: the functions of the label.
    """

    columns: tuple[tuple[IntArray, ...], ...]
    correlations: FloatArray
    labels: FloatArray
    unknown: Mapping[tuple[int, int], BoolArray]
    masked: tuple[tuple[Masked | None, ...], ...]
    tables: PairTables
    label: Basis | Scored
    variance: Variance | None = None

    @classmethod
    def of(
        cls,
        evidence: Sequence[AttributeEvidence],
        options: Sequence[tuple[str, ...]],
        codes: Codes,
        pairs: Sequence[PairCounts],
        estimate: Estimate = lambda _evidence, _option: None,
        numbers: FloatArray | None = None,
    ) -> Self:
        """Return the design of configurations with these codes (configurations, attributes).

        `estimate` supplies inexact counts of a masking with the label. `numbers` (labels,) are the scores of its
        classes, if these matter instead of the classes themselves.

        Raises:
            MissingCountsError: a masking in use has neither joint counts with the label nor an estimate of them.
            TooManyColumnsError: the maskings have more than `MOST_COLUMNS` dimensions.
        """
        used = [np.bincount(column, minlength=len(names)) > 0 for column, names in zip(codes.T, options, strict=True)]
        masked = [
            [_masked(known, name, estimate) if is_used else None for name, is_used in zip(names, flags, strict=True)]
            for known, names, flags in zip(evidence, options, used, strict=True)
        ]
        masked = _pooled(masked, codes)
        columns, size = _number([[0 if one is None else one.basis.size for one in maskings] for maskings in masked])
        if size > MOST_COLUMNS:
            raise TooManyColumnsError(size, MOST_COLUMNS)
        records = known_label(evidence)
        label = Basis.of(records) if numbers is None else Scored.of(records, numbers)
        labels = np.zeros((size, label.size))
        for one, place in _placed(masked, columns):
            labels[place] = correlation(one.joint, one.basis, label)
        tables = PairTables.of(evidence, pairs)
        correlations, unknown = _correlations(tables, masked, columns, _used_together(codes, masked), size)
        design = cls(columns, correlations, labels, unknown, tuple(map(tuple, masked)), tables, label)
        exact = tables.are_exact and not any(one.variance for one, _ in _placed(masked, columns))
        return design if exact else replace(design, variance=design._variance(codes))

    def _variance(self, codes: Codes) -> Variance:
        """The variances of the correlations."""
        correlations, labels = np.zeros(self.correlations.shape), np.zeros(len(self.labels))
        for one, place in _placed(self.masked, self.columns):
            records = max(float(one.joint.sum()), 1.0)
            least = FAR * math.sqrt(one.variance) / records
            labels[place] = one.variance / records**2 * one.basis.spread(least) * self.label.spread().sum()
        for pair in self.used_together(codes):
            ours, theirs = self.masked[pair.first][pair.code], self.masked[pair.second][pair.other]
            if ours is None or theirs is None:
                continue
            of_counts = self.tables.variance(pair.first, ours.id, pair.second, theirs.id)
            rows, across = _run(self.columns[pair.first][pair.code]), _run(self.columns[pair.second][pair.other])
            records = max(float(ours.joint.sum()), 1.0)
            correlations[rows, across] = of_counts / records**2 * np.outer(ours.basis.spread(), theirs.basis.spread())
            correlations[across, rows] = correlations[rows, across].T
        return Variance(correlations, labels)

    def used_together(self, codes: Codes) -> Iterator[PairPlace]:
        """All pairs of maskings with several masked values each that these configurations use together."""
        return _used_together(codes, self.masked)

    def names(self, pair: PairPlace) -> tuple[int, str, int, str]:
        """Each attribute of a pair with the id of its masking."""
        one, two = self.masked[pair.first][pair.code], self.masked[pair.second][pair.other]
        return pair.first, one.id if one else DROP, pair.second, two.id if two else DROP

    def joint(self, pair: PairPlace) -> IntArray | None:
        """The pair counts of two maskings; None if they are not known."""
        return _joint(self.tables, self.masked, pair)

    def lacking(self, codes: Codes) -> BoolArray:
        """(configurations,) which configurations use two maskings together whose pair counts are not known."""
        lacking = np.zeros(len(codes), dtype=bool)
        for (first, second), unknown in self.unknown.items():
            lacking |= unknown[codes[:, first], codes[:, second]]
        return lacking


def known_label(evidence: Sequence[AttributeEvidence]) -> IntArray:
    """The records (labels,) of each label value, preferably from an attribute for which they are certain."""
    return next((known for known in evidence if known.knows_label), evidence[0]).label_counts


def _masked(evidence: AttributeEvidence, option: str, estimate: Estimate) -> Masked | None:
    """Return a masking with its basis; None if all records have one masked value: it then has no dimension."""
    if option == DROP or (option == IDENTITY and evidence.flags.values <= 1):
        return None
    joint: IntArray | FloatArray | None = label_counts(evidence, option)
    variance = float(np.mean(sum_variances(evidence).get(option, evidence.rounding.count_variance)))
    if joint is None and (estimated := estimate(evidence, option)) is not None:
        joint, variance = estimated, evidence.count_variance(option)
    if joint is None:
        raise MissingCountsError(evidence.name, option)
    basis = Basis.of(joint.sum(axis=1))
    return Masked(option, basis, joint, variance) if basis.size > 0 else None


def _pooled(masked: Sequence[Sequence[Masked | None]], codes: Codes) -> list[list[Masked | None]]:
    """Pool masked values with inexact counts that have fewer records than a masking used with them has masked values.

    Their pair counts are below 1 on average, so they consist of errors. A few such values do little harm, and may be
    informative about the label. So a masking is only pooled if most of its values have so few records. Maskings that no
    configuration combines with it have no pair counts with it, and cause no pooling.
    """
    widest = [[0] * len(maskings) for maskings in masked]
    for first, second, code, other in _used_together(codes, masked):
        one, two = masked[first][code], masked[second][other]
        if one is not None and two is not None:
            widest[first][code] = max(widest[first][code], two.basis.held.size)
            widest[second][other] = max(widest[second][other], one.basis.held.size)
    return [
        [None if one is None else _with_pools(one, least) for one, least in zip(maskings, of, strict=True)]
        for maskings, of in zip(masked, widest, strict=True)
    ]


def _with_pools(masked: Masked, least: float) -> Masked | None:
    records = masked.joint.sum(axis=1)
    if not masked.variance or 2 * np.count_nonzero(records[masked.basis.held] < least) <= masked.basis.held.size:
        return masked
    basis = Basis.of(records, least)
    return replace(masked, basis=basis) if basis.size > 0 else None


def label_counts(evidence: AttributeEvidence, option: str) -> IntArray | None:
    """The exact joint counts of a masking with the label, even if it is random; None if unknown."""
    if option == IDENTITY:
        return evidence.joint
    masking = evidence.masking(option)
    counts = exact_counts(evidence, masking)
    return masking.joint if counts is None and masking.perturbation.is_none else counts


def _number(sizes: Sequence[Sequence[int]]) -> tuple[tuple[tuple[IntArray, ...], ...], int]:
    """Assign consecutive columns to each masking of each attribute; return them and their total number."""
    flat = [size for each in sizes for size in each]
    ends = np.cumsum(flat)
    runs = iter([np.arange(end - size, end) for end, size in zip(ends.tolist(), flat, strict=True)])
    return tuple(tuple(next(runs) for _ in each) for each in sizes), int(ends[-1])


def _placed(
    masked: Sequence[Sequence[Masked | None]], columns: tuple[tuple[IntArray, ...], ...]
) -> Iterator[tuple[Masked, IntArray]]:
    for maskings, places in zip(masked, columns, strict=True):
        for one, place in zip(maskings, places, strict=True):
            if one is not None:
                yield one, place


def _correlations(
    tables: PairTables,
    masked: Sequence[Sequence[Masked | None]],
    columns: tuple[tuple[IntArray, ...], ...],
    used: Iterable[PairPlace],
    size: int,
) -> tuple[FloatArray, dict[tuple[int, int], BoolArray]]:
    """The correlations of maskings used together, and which of these lack pair counts."""
    whole, exact = np.eye(size), tables.are_exact
    unknown: dict[tuple[int, int], BoolArray] = {}
    for pair in used:
        first, second, code, other = pair
        one, two = masked[first][code], masked[second][other]
        joint = None if one is None or two is None else tables.estimate(first, one.id, second, two.id)
        if one is None or two is None or joint is None:
            sizes = len(masked[first]), len(masked[second])
            unknown.setdefault((first, second), np.zeros(sizes, dtype=bool))[code, other] = True
            continue
        rows, across = _run(columns[first][code]), _run(columns[second][other])
        whole[rows, across] = correlation(joint, one.basis, two.basis, exact=exact)
        whole[across, rows] = whole[rows, across].T
    return whole, unknown


def _joint(tables: PairTables, masked: Sequence[Sequence[Masked | None]], pair: PairPlace) -> IntArray | None:
    one, two = masked[pair.first][pair.code], masked[pair.second][pair.other]
    return None if one is None or two is None else tables.find(pair.first, one.id, pair.second, two.id)


def _run(columns: IntArray) -> slice:
    return slice(int(columns[0]), int(columns[-1]) + 1)


def _used_together(codes: Codes, masked: Sequence[Sequence[Masked | None]]) -> Iterator[PairPlace]:
    """All pairs of maskings with several masked values each that a configuration uses together."""
    wide = codes.T.astype(np.int64, order="C")
    for first, second in combinations(range(len(masked)), 2):
        across = len(masked[second])
        both = np.bincount(wide[first] * across + wide[second], minlength=len(masked[first]) * across)
        for combination in np.flatnonzero(both).tolist():
            code, other = divmod(combination, across)
            if masked[first][code] is not None and masked[second][other] is not None:
                yield PairPlace(first, second, code, other)
