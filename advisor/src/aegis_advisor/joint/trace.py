"""Pillai's trace of one configuration after another, reusing what each shares with the one before."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from scipy.linalg import blas, lapack

from aegis_advisor.arrays import BoolArray, Codes, FloatArray, IntArray
from aegis_advisor.joint.design import Design

DEPENDENT = 1e-12
"""A dimension that keeps at most this share of its variance, given those before it, depends on them and is left out. In
a table of N records, a dimension that does not depend on others keeps about 1/N or more."""

MOST_RECORDS = 10**10
"""With more records than this, a dimension that keeps 1/N cannot be told from one that depends on others."""

ROUNDING = 1e-14
"""The error of a residual variance, which is a difference of numbers of order 1."""

NEGLIGIBLE = 1e-5
"""Rounding may leave a dependent dimension this much correlation with dimensions that it does not depend on (about the
root of `DEPENDENT`), and raise a canonical correlation by this much above 1. Beyond that, no table has these counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Traces:
    """The traces of configurations. All arrays are (configurations,).

    Attributes:
        trace: `V = tr(Sxx^+ Sxy Syy^+ Syx)`; NaN if no table has the counts of a configuration.
        rank: the rank of `Sxx`.
        doubt: roughly how far rounding may have moved the trace; infinite if that is not known.
    """

    trace: FloatArray
    rank: IntArray
    doubt: FloatArray


def traces(design: Design, codes: Codes, records: int) -> Traces:
    """Compute the traces of the configurations with these codes (configurations, attributes)."""
    order = _order(design, codes)
    arranged = codes[:, order]
    columns = [design.columns[attribute] for attribute in order]
    rows = np.lexsort(arranged.T[::-1])
    traced = Traces(np.empty(len(codes)), np.empty(len(codes), dtype=np.int64), np.empty(len(codes)))
    elimination = _Elimination.of(design, columns, records)
    last = (0.0, 0, 0.0)
    for row, shared in zip(rows, _shared(arranged[rows]).tolist(), strict=True):
        if shared < codes.shape[1]:  # otherwise the row equals the one before
            chosen = [of[code] for of, code in zip(columns, arranged[row].tolist(), strict=True)]
            last = elimination.replace(chosen, shared)
        traced.trace[row], traced.rank[row], traced.doubt[row] = last
    return traced


def _order(design: Design, codes: Codes) -> list[int]:
    """Order attributes so that successive configurations share most: first those with the fewest maskings in use."""
    changes = [len(np.unique(column)) for column in codes.T]
    largest = [max((columns.size for columns in of), default=0) for of in design.columns]
    return sorted(range(len(changes)), key=lambda attribute: (changes[attribute], -largest[attribute]))


def _shared(codes: Codes) -> IntArray:
    """(configurations,) how many of its first attributes each shares with the one before; 0 for the first."""
    differs: BoolArray = codes[1:] != codes[:-1]
    first = np.where(differs.any(axis=1), differs.argmax(axis=1), codes.shape[1])
    return np.concatenate(([0], first)).astype(np.int64)


_NONE = np.zeros(0, dtype=np.int64), np.zeros((0, 0))


class _NoTableError(Exception):
    """No table has these correlations."""


@dataclass(slots=True, eq=False)
class _Elimination:
    """The Cholesky factor `L` of the correlations of a configuration, and `L^-1` times those with the label.

    The squares of the latter add up to the trace; each row is what a dimension explains beyond those before it.
    Dimensions that depend on those before them are left out.

    Attributes:
        factor, solved: `L` and `L^-1` times the correlations with the label, with room for the largest configuration.
        places: the columns of the design that the rows of the factor stand for.
        ends: the number of rows after each attribute.
        dependent: for each attribute, the columns left out, and their part in the factor (size, columns).
    """

    design: Design
    records: int
    factor: FloatArray
    solved: FloatArray
    places: IntArray
    ends: list[int] = field(default_factory=list)
    dependent: list[tuple[IntArray, FloatArray]] = field(default_factory=list)

    @classmethod
    def of(cls, design: Design, columns: Sequence[tuple[IntArray, ...]], records: int) -> Self:
        most = sum(max((each.size for each in of), default=0) for of in columns)
        solved = np.zeros((most, design.labels.shape[1]))
        return cls(design, records, np.zeros((most, most), order="F"), solved, np.zeros(most, dtype=np.int64))

    def replace(self, chosen: list[IntArray], shared: int) -> tuple[float, int, float]:
        """Compute trace, rank and doubt of a configuration.

        `chosen` are the columns of each attribute; the first `shared` are those of the configuration before.
        """
        del self.ends[shared:], self.dependent[shared:]
        try:
            if not self._extend_by_all(chosen[len(self.ends) :]):
                for columns in chosen[len(self.ends) :]:
                    self._extend_by_one(columns)
            return self._result()
        except _NoTableError:
            self.ends.clear()  # the factor is incomplete
            self.dependent.clear()
            return np.nan, 0, np.inf

    @property
    def _size(self) -> int:
        return self.ends[-1] if self.ends else 0

    def _result(self) -> tuple[float, int, float]:
        size = self._size
        solved = self.solved[:size]
        if size and np.linalg.norm(solved, 2) > 1 + NEGLIGIBLE:
            raise _NoTableError
        squares = np.sum(solved**2, axis=1)
        doubt = float(np.sum(squares * ROUNDING / np.square(self.factor.diagonal()[:size])))
        unsure = self.records > MOST_RECORDS and any(columns.size for columns, _ in self.dependent)
        return float(squares.sum()), size, np.inf if unsure else doubt

    def _extend_by_all(self, chosen: Sequence[IntArray]) -> bool:
        """Extend the factor by several attributes at once; False if some of their dimensions are dependent."""
        if not chosen:
            return True
        fresh = np.concatenate(chosen)
        above, left, labels = self._left_over(fresh)
        lower, failed = lapack.dpotrf(left, lower=1) if fresh.size else (left, 0)
        if failed or (fresh.size and np.square(lower.diagonal()).min() <= DEPENDENT):
            return False
        ends = self._size + np.cumsum([each.size for each in chosen])
        self._append(fresh, above, lower, labels)
        self.ends += ends.tolist()
        self.dependent += [_NONE] * len(chosen)
        return True

    def _extend_by_one(self, fresh: IntArray) -> None:
        """Extend the factor by the independent dimensions of an attribute; the dependent ones must add nothing."""
        above, left, labels = self._left_over(fresh)
        factor, order, rank = _pivoted(left)
        kept, rest = order[:rank], order[rank:]
        part = factor[rank:, :rank]
        start = self._size
        self._append(fresh[kept], above[:, kept], factor[:rank, :rank], labels[kept])
        _require_nothing(left[np.ix_(rest, rest)] - part @ part.T)
        _require_nothing(labels[rest] - part @ self.solved[start : start + rank])
        self.ends.append(start + rank)
        self.dependent.append((fresh[rest], np.concatenate([above[:, rest], part.T])))

    def _left_over(self, fresh: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Project new columns (fresh,) of the design onto the factor.

        Returns:
            Their part in each row of the factor (size, fresh), and the residuals: of their correlations with each
            other, and of those with the label.
        """
        size = self._size
        block = self.design.correlations[np.ix_(np.concatenate([self.places[:size], fresh]), fresh)]
        labels = self.design.labels[fresh]
        if not size or not fresh.size:
            return block[:size], block[size:], labels
        above = blas.dtrsm(1.0, self.factor[:size, :size], block[:size], lower=1)
        for columns, part in self.dependent:
            if columns.size:
                _require_nothing(self.design.correlations[np.ix_(columns, fresh)] - part.T @ above[: len(part)])
        return above, block[size:] - above.T @ above, labels - above.T @ self.solved[:size]

    def _append(self, fresh: IntArray, above: FloatArray, lower: FloatArray, labels: FloatArray) -> None:
        """Add new columns to the factor: `above` is their part in its existing rows, `lower` the factor of the rest."""
        size, end = self._size, self._size + fresh.size
        if fresh.size:
            self.factor[size:end, :size] = above.T
            self.factor[size:end, size:end] = lower
            self.solved[size:end], _ = lapack.dtrtrs(lower, labels, lower=1)
            self.places[size:end] = fresh


def _pivoted(left: FloatArray) -> tuple[FloatArray, IntArray, int]:
    """The pivoted Cholesky factor of residual correlations (n, n), the order of its columns, and its rank."""
    if left.diagonal().max(initial=0.0) <= DEPENDENT:  # the library never compares the first pivot with `tol`
        return np.zeros(left.shape), np.arange(len(left)), 0
    factor, pivots, rank, _ = lapack.dpstrf(left, tol=DEPENDENT, lower=1)
    return np.tril(factor), pivots - 1, rank


def _require_nothing(rest: FloatArray) -> None:
    """Check that dependent dimensions correlate with nothing beyond those that they depend on.

    Raises:
        _NoTableError: they do.
    """
    if np.abs(rest).max(initial=0.0) > NEGLIGIBLE:
        raise _NoTableError
