"""Pillai's trace of one configuration after another, reusing what each shares with the one before."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from scipy.linalg import blas, lapack

from aegis_advisor.arrays import BoolArray, Codes, FloatArray, IntArray
from aegis_advisor.joint.design import Design
from aegis_advisor.joint.integers import ImpossibleCountsError, WholeNumbers

DEPENDENT = 1e-12
"""A dimension that keeps at most this share of its variance, given those before it, is left out for now. Whether it
depends on them or keeps something after all is not for this number to say (`_Elimination.settled`)."""

NEGLIGIBLE = 1e-5
"""Rounding may leave a dependent dimension this much correlation with dimensions that it does not depend on (about the
root of `DEPENDENT`), and raise a canonical correlation by this much above 1. Beyond that, no table has these counts."""

UNIT = 2.0**-53
"""The relative error of one operation."""

GROWTH = 8
"""Correlations and the factor of `n` of them are off by at most `GROWTH * n * UNIT` in norm. Errors of single
operations seldom add up, so this is rather more than what is seen, though less than what is possible."""

PROBES = 4
"""The random columns that show how ill-conditioned a factor is."""

SAFETY = 640
"""The mean of the squares over probes estimates the trace of the inverse, which is at most 64 times larger (by chi-square
with 4 degrees of freedom, it exceeds that once in 2,000 times, if at all ill-conditioned). Its product with the error
must be below a tenth for the rank to be certain."""

CLOSE = 5e-10
"""Half of what counts as a tie: if rounding may move a trace by more than this share of it, whole numbers decide."""

LEAST = 1e-3
"""Traces below this are compared like this one."""

TOUCHED = 1e-6
"""A dimension depends on those that are in the combination that equals it with at least this coefficient."""


@dataclass(frozen=True, slots=True, eq=False)
class Traces:
    """The traces of configurations. All arrays are (configurations,).

    Attributes:
        trace: `V = tr(Sxx^+ Sxy Syy^+ Syx)`; NaN if no table has the counts of a configuration.
        rank: the rank of `Sxx`.
        doubt: how far rounding may have moved the trace; infinite if that is not known.
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
    last = _Outcome(0.0, 0, 0.0)
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


class _NoTableError(Exception):
    """No table has these correlations."""


class _Outcome(NamedTuple):
    trace: float
    rank: int
    doubt: float


_IMPOSSIBLE = _Outcome(np.nan, 0, np.inf)


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """An attribute that a factor was extended by.

    Attributes:
        columns: its columns in the design.
        end: the rows of the factor up to it.
        dependent: the columns left out.
        part: the part of these in the factor (`end`, columns left out).
        settled: whether these are known to depend on the others.
    """

    columns: IntArray
    end: int
    dependent: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    part: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    settled: bool = True


@dataclass(slots=True, eq=False)
class _Elimination:
    """The Cholesky factor `L` of the correlations of a configuration, and `L^-1` times those with the label.

    The squares of the latter add up to the trace; each row is what a dimension explains beyond those before it.
    Dimensions that depend on those before them are left out.

    Attributes:
        targets: (columns, labels + PROBES) the correlations with the label, then random numbers.
        factor, solved: `L` and `L^-1` times the targets, with room for the largest configuration.
        places: the columns of the design that the rows of the factor stand for.
        steps: the attributes so far.
    """

    design: Design
    records: int
    exact: WholeNumbers
    targets: FloatArray
    factor: FloatArray
    solved: FloatArray
    places: IntArray
    steps: list[_Step] = field(default_factory=list)

    @classmethod
    def of(cls, design: Design, columns: Sequence[tuple[IntArray, ...]], records: int) -> Self:
        most = sum(max((each.size for each in of), default=0) for of in columns)
        probes = np.random.default_rng(0).standard_normal((len(design.labels), PROBES))
        targets = np.concatenate([design.labels, probes], axis=1)
        factor, solved = np.zeros((most, most), order="F"), np.zeros((most, targets.shape[1]))
        return cls(design, records, WholeNumbers.of(design), targets, factor, solved, np.zeros(most, dtype=np.int64))

    def replace(self, chosen: list[IntArray], shared: int) -> _Outcome:
        """Compute trace, rank and doubt of a configuration.

        `chosen` are the columns of each attribute; the first `shared` are those of the configuration before.
        """
        del self.steps[shared:]
        try:
            if not self._extend_by_all(chosen[len(self.steps) :]):
                for columns in chosen[len(self.steps) :]:
                    self._extend_by_one(columns)
            return self._result()
        except _NoTableError:
            self.steps.clear()  # the factor is incomplete
            return _IMPOSSIBLE

    @property
    def _size(self) -> int:
        return self.steps[-1].end if self.steps else 0

    def _result(self) -> _Outcome:
        """The outcome by the factor if rounding cannot matter, else by whole numbers, as far as these can be had."""
        size, classes = self._size, self.design.labels.shape[1]
        if not size:
            return _Outcome(0.0, 0, 0.0)
        solved = self.solved[:size, :classes]
        trace, sure = float(np.sum(solved**2)), self._is_sure()
        doubt = self._doubt() if sure else np.inf
        if sure and np.linalg.norm(solved, 2) > 1 + NEGLIGIBLE:
            raise _NoTableError
        if doubt <= CLOSE * max(trace, LEAST) and all(step.settled for step in self.steps):
            return _Outcome(trace, size, doubt)
        return self._exactly(_Outcome(trace, size, doubt))

    def _exactly(self, rounded: _Outcome) -> _Outcome:
        parts = [int(step.columns[0]) for step in self.steps if step.columns.size]
        try:
            exact = self.exact.trace(parts)
        except ImpossibleCountsError:
            return _IMPOSSIBLE
        if exact is not None:
            return _Outcome(*exact, self._error(0.0))
        rank = self.exact.rank(parts)
        if rank is None:
            return rounded._replace(doubt=np.inf)
        return rounded._replace(rank=rank, doubt=rounded.doubt if rank == rounded.rank else np.inf)

    def _error(self, inverse: float) -> float:
        return GROWTH * max(self._size, 1) * UNIT * (1 + inverse)

    def _trace_of_inverse(self) -> float:
        """An estimate of the trace of the inverse of the correlations that were kept, by random probes.

        It is that of Hutchinson [@hutchinson1989]: the expected square of `L^-1` times a random vector.
        """
        probes = self.solved[: self._size, self.design.labels.shape[1] :]
        return float(np.vdot(probes, probes)) / PROBES

    def _is_sure(self) -> bool:
        """Whether the dimensions that were kept are independent: no error as large as ours could make them depend."""
        return self._error(self._trace_of_inverse()) * SAFETY <= 1

    def _doubt(self) -> float:
        """How far an error of the correlations of `_error` in norm moves the trace: by its product with `|G^-1 B|^2`.

        This is the first-order term; as long as `_is_sure` holds, the others are smaller. `(1 + |G^-1 B|)^2` covers
        errors of the correlations with the label, and of sums.
        """
        size, classes = self._size, self.design.labels.shape[1]
        inverse, _ = lapack.dtrtrs(self.factor[:size, :size], self.solved[:size, :classes], lower=1, trans=1)
        return self._error(0.0) * (1 + float(np.linalg.norm(inverse))) ** 2

    def _extend_by_all(self, chosen: Sequence[IntArray]) -> bool:
        """Extend the factor by several attributes at once; False if some of their dimensions may be dependent."""
        if not chosen:
            return True
        fresh, start = np.concatenate(chosen), self._size
        above, left, targets = self._left_over(fresh)
        lower, failed = lapack.dpotrf(left, lower=1) if fresh.size else (left, 0)
        if failed or (fresh.size and np.square(lower.diagonal()).min() <= DEPENDENT):
            return False
        self._append(fresh, above, lower, targets)
        ends = start + np.cumsum([each.size for each in chosen])
        self.steps += [_Step(columns, end) for columns, end in zip(chosen, ends.tolist(), strict=True)]
        if self._is_sure():
            return True
        del self.steps[-len(chosen) :]
        return False

    def _extend_by_one(self, fresh: IntArray) -> None:
        """Extend the factor by the independent dimensions of an attribute; the dependent ones must add nothing."""
        above, left, targets = self._left_over(fresh)
        least = max(DEPENDENT, 2 * GROWTH * UNIT * self._trace_of_inverse())
        factor, order, rank = _pivoted(left, least)
        kept, rest = order[:rank], order[rank:]
        part = factor[rank:, :rank]
        start, classes = self._size, self.design.labels.shape[1]
        self._append(fresh[kept], above[:, kept], factor[:rank, :rank], targets[kept])
        _require_nothing(left[np.ix_(rest, rest)] - part @ part.T, least)
        _require_nothing((targets[rest] - part @ self.solved[start : start + rank])[:, :classes], least)
        whole = np.concatenate([above[:, rest], part.T])
        settled = not rest.size or self._depend(fresh, whole)
        self.steps.append(_Step(fresh, start + rank, fresh[rest], whole, settled))

    def _depend(self, fresh: IntArray, part: FloatArray) -> bool:
        """Whether the dimensions of `fresh` that were left out, with this part in the factor, depend on the others.

        The combinations that equal them usually touch few attributes, so that whole numbers decide quickly, and once
        for many configurations: these attributes and `fresh` have no higher rank than the dimensions kept suggest.
        """
        size, rank = len(part), len(part) - self._size
        if size >= self.records - 1:  # more dimensions there cannot be
            return True
        weights, _ = lapack.dtrtrs(self.factor[:size, :size], part, lower=1, trans=1)
        touched = np.abs(weights).max(axis=1) > TOUCHED
        starts = [0, *(step.end for step in self.steps)]
        others = [
            int(step.columns[0]) for step, start in zip(self.steps, starts, strict=False) if touched[start : step.end].any()
        ]
        if len(others) == sum(step.columns.size > 0 for step in self.steps) > 3:
            return False  # nothing would be saved
        before = self.exact.rank(others) if others else 0
        after = self.exact.rank([*others, int(fresh[0])])
        return before is not None and after is not None and after - before <= rank

    def _left_over(self, fresh: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Project new columns (fresh,) of the design onto the factor.

        Returns:
            Their part in each row of the factor (size, fresh), and the residuals: of their correlations with each
            other, and of their targets.
        """
        size = self._size
        block = self.design.correlations[np.ix_(np.concatenate([self.places[:size], fresh]), fresh)]
        targets = self.targets[fresh]
        if not size or not fresh.size:
            return block[:size], block[size:], targets
        above = blas.dtrsm(1.0, self.factor[:size, :size], block[:size], lower=1)
        least = max(DEPENDENT, 2 * GROWTH * UNIT * self._trace_of_inverse())
        for step in self.steps:
            if step.dependent.size:
                rest = self.design.correlations[np.ix_(step.dependent, fresh)]
                _require_nothing(rest - step.part.T @ above[: len(step.part)], least)
        return above, block[size:] - above.T @ above, targets - above.T @ self.solved[:size]

    def _append(self, fresh: IntArray, above: FloatArray, lower: FloatArray, targets: FloatArray) -> None:
        """Add new columns to the factor: `above` is their part in its existing rows, `lower` the factor of the rest."""
        size, end = self._size, self._size + fresh.size
        if fresh.size:
            self.factor[size:end, :size] = above.T
            self.factor[size:end, size:end] = lower
            self.solved[size:end], _ = lapack.dtrtrs(lower, targets, lower=1)
            self.places[size:end] = fresh


def _pivoted(left: FloatArray, least: float) -> tuple[FloatArray, IntArray, int]:
    """The pivoted Cholesky factor of residual correlations (n, n), the order of its columns, and how many keep more."""
    if left.diagonal().max(initial=0.0) <= least:  # the library never compares the first pivot with `tol`
        return np.zeros(left.shape), np.arange(len(left)), 0
    factor, pivots, rank, _ = lapack.dpstrf(left, tol=least, lower=1)
    return np.tril(factor), pivots - 1, rank


def _require_nothing(rest: FloatArray, least: float) -> None:
    """Check that dimensions that keep at most `least` of their variance correlate with nothing beyond the others.

    Raises:
        _NoTableError: they do.
    """
    if np.abs(rest).max(initial=0.0) > max(NEGLIGIBLE, 4 * math.sqrt(least)):
        raise _NoTableError
