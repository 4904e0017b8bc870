"""Exact decisions where rounding leaves doubt, from the counts: ranks modulo primes, and traces in whole numbers."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.joint.design import Basis, Design, Masked, Scored

PRIMES = 2**31 - 1, 2**31 - 19
"""Two primes, below 2^31 so that products fit 64 bits. The rank modulo a prime is never above the true one. It is lower
only if the prime divides a certain determinant: about once in 10^9 ranks by chance, and with both primes once in
10^18."""

MOST_COLUMNS = 128
"""The most columns eliminated in whole numbers, whose digits grow with each (128 columns take 4 seconds with 10^8
records, 0.4 with 200)."""

MOST_WORK = 2**31
"""The most work for the configurations of a question, in units of 1 to 8 nanoseconds, depending on the digits."""

Parts = tuple[int, ...]
"""The maskings of some attributes, each by its first column in the design, in ascending order."""


class ImpossibleCountsError(Exception):
    """No table has these counts."""


@dataclass(slots=True, eq=False)
class WholeNumbers:
    """Joint ranks and traces of maskings, without rounding errors.

    The matrix contains the products of indicators, summed over the records: the number of records, the counts of all
    masked values but one per attribute, and the pair counts. It has the rank of `Sxx` plus one.

    Attributes:
        places: the attribute and the masking that start at a column of the design.
    """

    design: Design
    places: dict[int, tuple[int, Masked]]
    work: int
    _ranks: dict[Parts, int | None] = field(default_factory=dict)

    @classmethod
    def of(cls, design: Design) -> Self:
        """Index the maskings of a design."""
        every = (
            (int(columns[0]), (attribute, one))
            for attribute, (each, places) in enumerate(zip(design.masked, design.columns, strict=True))
            for one, columns in zip(each, places, strict=True)
            if one is not None
        )
        return cls(design, dict(every), MOST_WORK)

    def rank(self, parts: Iterable[int]) -> int | None:
        """The rank of `Sxx` of these maskings; None if that would take too much work."""
        key = tuple(sorted(parts))
        if key not in self._ranks:
            self._ranks[key] = self._rank(key) if self._affords(2 * self._size(key) ** 3) else None
        return self._ranks[key]

    def trace(self, parts: Iterable[int]) -> tuple[float, int] | None:
        """Pillai's trace of these maskings, rounded only at the end, and the rank of `Sxx`.

        It is `sum over y of b_y' G^+ b_y / n_y - 1`, with the matrix `G` of products, and for each label value `y` the
        number `n_y` of its records and the products `b_y` with its indicator. For scores see `_share_of_variance`.

        Returns:
            None if that would take too much work.

        Raises:
            ImpossibleCountsError: no table has these counts.
        """
        key = tuple(sorted(parts))
        size = self._size(key)
        if size > MOST_COLUMNS or not self._affords(size**4):
            return None
        matrix, labels = self._products(key), self._labels(key)
        if isinstance(self.design.label, Scored):
            return _share_of_variance(matrix, labels, self.design.label.numbers)
        left, scale, rank = _eliminate(matrix, labels)
        shares = [Fraction(-rest, scale * int(records)) for rest, records in zip(left, labels[0], strict=True)]
        trace = sum(shares, Fraction(-1))
        if not 0 <= trace <= labels.shape[1] - 1:
            raise ImpossibleCountsError
        return float(trace), rank - 1

    def _size(self, parts: Parts) -> int:
        """The number of columns, plus some for the overhead."""
        return 16 + sum(self.places[part][1].basis.size for part in parts)

    def _affords(self, cost: int) -> bool:
        affords = cost <= self.work
        self.work -= cost if affords else 0
        return affords

    def _rank(self, parts: Parts) -> int:
        matrix = self._products(parts)
        return max(_rank_modulo(matrix, prime) for prime in PRIMES) - 1

    def _products(self, parts: Parts) -> IntArray:
        """The products of indicators (size, size), the constant first."""
        maskings = [self.places[part] for part in parts]
        counts = [one.joint.sum(axis=1)[one.basis.held[1:]] for _, one in maskings]
        blocks = [[np.array([[maskings[0][1].joint.sum()]]), *(count[np.newaxis] for count in counts)]]
        for at, count in enumerate(counts):
            row = [self._pairs(maskings, at, other) if at != other else np.diag(count) for other in range(len(counts))]
            blocks.append([count[:, np.newaxis], *row])
        return np.block(blocks).astype(np.int64)

    def _pairs(self, maskings: Sequence[tuple[int, Masked]], at: int, other: int) -> IntArray:
        """The pair counts of two maskings, without the first masked value of each."""
        if at > other:
            return self._pairs(maskings, other, at).T
        (first, one), (second, two) = maskings[at], maskings[other]
        joint = self.design.tables.find(first, one.id, second, two.id)
        if joint is None:
            raise ValueError(
                f"no pair counts of {one.id!r} with {two.id!r}"
            )  # the caller leaves such configurations out
        return joint[np.ix_(one.basis.held[1:], two.basis.held[1:])]

    def _labels(self, parts: Parts) -> IntArray:
        """The products with the indicators of label values that have records (size, labels), the constant first."""
        maskings = [self.places[part][1] for part in parts]
        total = maskings[0].joint.sum(axis=0, keepdims=True)
        held = total[0] > 0 if isinstance(self.design.label, Basis) else slice(None)
        return np.concatenate([total, *(one.joint[one.basis.held[1:]] for one in maskings)])[:, held]


def _share_of_variance(matrix: IntArray, labels: IntArray, numbers: FloatArray) -> tuple[float, int]:
    """The `R^2` of scores (labels,) as they are written in decimals, and the rank, from products of indicators.

    `(b' G^+ b - N mean^2) / (N variance)`, with the products `b` of the indicators with the scores.
    """
    scores = [Fraction(repr(number)) for number in numbers.tolist()]
    unit = math.lcm(*(score.denominator for score in scores))
    whole = np.array([int(score * unit) for score in scores], dtype=object)
    products = labels.astype(object) @ whole
    (left,), scale, rank = _eliminate(matrix, products[:, np.newaxis])
    mean = Fraction(int(products[0]) ** 2, int(matrix[0, 0]))
    explained, variance = Fraction(-left, scale) - mean, int(labels[0].astype(object) @ whole**2) - mean
    if not 0 <= explained <= variance:
        raise ImpossibleCountsError
    return float(explained / variance) if variance else 0.0, rank - 1


def _rank_modulo(matrix: IntArray, prime: int) -> int:
    """The rank of a matrix (n, n) of whole numbers modulo a prime below 2^31, by Gaussian elimination."""
    rest, rank = matrix % prime, 0
    while rest.size:
        rows = np.flatnonzero(rest[:, 0])
        if rows.size:
            lead = rest[rows[0]] * pow(int(rest[rows[0], 0]), -1, prime) % prime
            rest = np.delete(rest, rows[0], axis=0)
            rest = rest - rest[:, :1] * lead % prime
            rank += 1
        rest = rest[:, 1:] % prime
    return rank


def _eliminate(matrix: IntArray, labels: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], int, int]:
    """Eliminate a matrix `G` (n, n) of products without fractions [@bareiss1968].

    Returns:
        `-d b' G^+ b` for each column `b` of `labels` (n, labels), the determinant `d` of the independent part of `G`,
        and its rank.
    """
    size, classes = labels.shape
    rest = np.zeros((size + classes, size + classes), dtype=object)
    rest[:size, :size], rest[:size, size:], rest[size:, :size] = matrix, labels, labels.T
    scale, rank = 1, 0
    for _ in range(size):
        pivot, row = rest[0, 0], rest[0, 1:]
        if pivot < 0 or (pivot == 0 and row.any()):
            raise ImpossibleCountsError
        rest = rest[1:, 1:]
        if pivot > 0:
            rest = (rest * pivot - np.outer(row, row)) // scale
            scale, rank = int(pivot), rank + 1
    return rest.diagonal(), scale, rank
