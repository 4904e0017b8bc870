"""Pillai's trace of one configuration after another, reusing the part shared with the previous one.

The Cholesky factor of its correlations yields the trace and the rank, and an estimate of the effect of rounding errors.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
import scipy

from aegis_advisor.arrays import BoolArray, Codes, FloatArray, IntArray
from aegis_advisor.joint.count_errors import inexact_traces
from aegis_advisor.joint.design import Design
from aegis_advisor.joint.integers import ImpossibleCountsError, WholeNumbers

UNIT = 2.0**-53
"""The relative error of one operation."""

GROWTH = 8
"""Correlations and the factor of `n` of them are off by at most `GROWTH * n * UNIT` in norm. Errors of single
operations seldom add up, so this is more than is observed, though less than is possible."""

PROBES = 8
"""The random columns that show how ill-conditioned a factor is."""

UNLUCKY = 16
"""A mean of squares over the probes exceeds its expectation divided by this number, except once in 6,000 times
(chi-square distribution with 8 degrees of freedom)."""


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """The products of all solved targets with each other.

    Attributes:
        labels: (labels, labels) those of the label; its trace is Pillai's.
        inverse: an estimate of the trace of `G^-1` for the correlations `G` in the factor, which is the expected square
            of `L^-1` times a random vector [@hutchinson1989]. It is above the largest eigenvalue.
        slope: an estimate of `|G^-1 B|^2` with the correlations `B` with the label, likewise.
    """

    labels: FloatArray
    inverse: float
    slope: float

    @classmethod
    def of(cls, solved: FloatArray) -> Self:
        """Return the products of the rows (n, labels + PROBES) of `L^-1` times the targets."""
        products, classes = solved.T @ solved, solved.shape[1] - PROBES
        slope = np.sum(np.square(products[classes:, :classes]))
        inverse = np.trace(products[classes:, classes:])
        return cls(products[:classes, :classes], float(inverse) / PROBES, float(slope) / PROBES)


def error(size: int) -> float:
    """The rounding error of correlations (size, size), in norm."""
    return GROWTH * max(size, 1) * UNIT


DEPENDENT = 1e-12
"""A dimension whose variance given those before it is at most this share is left out for now. Whole numbers decide
whether it really depends on them (`Elimination`)."""

NEGLIGIBLE = 1e-5
"""The largest spurious correlation that rounding gives a dependent dimension (about the root of `DEPENDENT`), and the
largest excess of a canonical correlation above 1. Beyond that, no table has these counts."""

CLOSE = 5e-10
"""Half the tolerance for ties: if rounding may change a trace by more than this share of it, whole numbers decide."""

LEAST = 1e-3
"""Smaller traces use the absolute tolerance of this one."""

TOUCHED = 1e-6
"""A dimension depends on those whose coefficient in the combination that equals it is at least this."""

FEW = 3
"""Up to this many attributes, their combinations of maskings recur among configurations."""


class _NoTableError(Exception):
    """No table has these correlations."""


class Outcome(NamedTuple):
    """Trace and rank of a configuration, and the rounding error of the trace; see `Traces`."""

    trace: float
    rank: int
    doubt: float


_IMPOSSIBLE = Outcome(np.nan, 0, np.inf)


_NONE, _NO_PART = np.zeros(0, dtype=np.int64), np.zeros((0, 0))


class _Step(NamedTuple):
    """An attribute added to the factor.

    Attributes:
        end: the number of rows of the factor up to it.
        part: the part of the left-out columns in the factor (`end`, columns).
        settled: whether the left-out columns are known to depend on the others.
    """

    columns: IntArray
    end: int
    dependent: IntArray = _NONE
    part: FloatArray = _NO_PART
    settled: bool = True


@dataclass(slots=True, eq=False)
class Elimination:
    """The Cholesky factor `L` of the correlations of a configuration, and `L^-1` times those with the label.

    The squares of the latter add up to the trace; each row is the share that a dimension explains beyond those before
    it. Dimensions that seem to depend on those before them are left out. No decision depends on rounding:

    * The dimensions in the factor are independent if it is so well-conditioned that no error could hide a dependence
    (`_is_sure`). Otherwise the configuration is computed in whole numbers.
    * Left-out dimensions depend on the others if whole numbers prove it, or if there are as many others as records,
    less one.
    * Whole numbers also yield the trace if its rounding error may exceed half the tolerance for ties.

    Attributes:
        exact: decisions in whole numbers, as far as the work allows.
        targets: (columns, labels + PROBES) the correlations with the label, then random numbers.
        factor, solved: `L` and `L^-1` times the targets, with room for the largest configuration.
        places: the columns of the design behind the rows of the factor.
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
        """Return an empty factor for attributes with these columns by code, in this order."""
        most = sum(max((each.size for each in of), default=0) for of in columns)
        probes = np.random.default_rng(0).standard_normal((len(design.labels), PROBES))
        targets = np.concatenate([design.labels, probes], axis=1)
        factor, solved = np.zeros((most, most), order="F"), np.zeros((most, targets.shape[1]))
        return cls(design, records, WholeNumbers.of(design), targets, factor, solved, np.zeros(most, dtype=np.int64))

    def replace(self, chosen: list[IntArray], shared: int) -> Outcome:
        """Compute trace, rank and doubt of a configuration.

        `chosen` are the columns of each attribute; the first `shared` are the same as in the previous configuration.
        """
        del self.steps[shared:]
        shared = len(self.steps)
        try:
            if self._extend_by_all(chosen[shared:]):
                moments = self._moments()
                if self._is_sure(moments):
                    return self._result(moments)
            del self.steps[shared:]
            for columns in chosen[shared:]:
                self._extend_by_one(columns)
            return self._result(self._moments())
        except _NoTableError:
            self.steps.clear()  # the factor is incomplete
            return _IMPOSSIBLE

    @property
    def _size(self) -> int:
        return self.steps[-1].end if self.steps else 0

    def _moments(self) -> Moments:
        return Moments.of(self.solved[: self._size])

    def _is_sure(self, moments: Moments) -> bool:
        """Whether the factor's dimensions are independent: ten times the rounding error could not hide a dependence."""
        return 10 * UNLUCKY * moments.inverse * error(self._size) < 1

    def _result(self, moments: Moments) -> Outcome:
        """The outcome from the factor if rounding cannot matter, else from whole numbers, as far as the work allows."""
        size, trace = self._size, float(np.trace(moments.labels))
        if not self._is_sure(moments):
            return self._exactly(Outcome(trace, size, np.inf), settled=False)
        if trace > 1 and np.linalg.eigvalsh(moments.labels)[-1] > (1 + NEGLIGIBLE) ** 2:
            raise _NoTableError
        close = CLOSE * max(trace, LEAST)
        doubt = error(size) * (1 + math.sqrt(UNLUCKY * moments.slope)) ** 2
        if doubt > close:
            doubt = self._doubt()
        settled = size >= self.records - 1 or all(step.settled for step in self.steps)
        rounded = Outcome(trace, size, doubt)
        return rounded if doubt <= close and settled else self._exactly(rounded, settled=settled)

    def _doubt(self) -> float:
        """The change of the trace by an error of norm `e` in the correlations: `e |G^-1 B|^2`.

        This is the first-order term; the others are smaller as long as `_is_sure` holds. `e (1 + |G^-1 B|)^2` covers
        errors of the correlations with the label and of the sum, too.
        """
        size, classes = self._size, self.design.labels.shape[1]
        inverse, _ = scipy.linalg.lapack.dtrtrs(
            self.factor[:size, :size], self.solved[:size, :classes], lower=1, trans=1
        )
        return error(size) * (1 + float(np.linalg.norm(inverse))) ** 2

    def _exactly(self, rounded: Outcome, *, settled: bool) -> Outcome:
        """The outcome in whole numbers: rank and, if `settled`, the trace, as far as the work allows."""
        parts = [int(step.columns[0]) for step in self.steps if step.columns.size]
        try:
            exact = self.exact.trace(parts)
        except ImpossibleCountsError:
            return _IMPOSSIBLE
        if exact is not None:
            return Outcome(*exact, error(1))
        rank = rounded.rank if settled else self.exact.rank(parts)
        if rank is None:
            return rounded._replace(doubt=np.inf)
        return rounded._replace(rank=rank, doubt=rounded.doubt if rank == rounded.rank else np.inf)

    def _least(self) -> float:
        """The smallest residual share of variance at which a dimension counts as independent of those before it."""
        probes = self.solved[: self._size, -PROBES:]
        inverse = float(np.einsum("ij,ij->", probes, probes)) / PROBES
        return max(DEPENDENT, 2 * GROWTH * UNIT * inverse)

    def _extend_by_all(self, chosen: Sequence[IntArray]) -> bool:
        """Extend the factor by several attributes at once; False if some of their dimensions are dependent."""
        if not chosen:
            return True
        fresh, start = np.concatenate(chosen), self._size
        above, left, targets = self._left_over(fresh)
        lower, failed = scipy.linalg.lapack.dpotrf(left, lower=1) if fresh.size else (left, 0)
        if failed or (fresh.size and np.square(lower.diagonal()).min() <= DEPENDENT):
            return False
        self._append(fresh, above, lower, targets)
        ends = start + np.cumsum([each.size for each in chosen])
        self.steps += [_Step(columns, end) for columns, end in zip(chosen, ends.tolist(), strict=True)]
        return True

    def _extend_by_one(self, fresh: IntArray) -> None:
        """Extend the factor by an attribute's independent dimensions; the dependent ones must add nothing."""
        above, left, targets = self._left_over(fresh)
        least = self._least()
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
        """Whether the left-out dimensions of `fresh`, with this part in the factor, depend on the others.

        The combinations that equal them usually touch few attributes, so that whole numbers decide quickly, and once
        for many configurations: these attributes and `fresh` have no higher rank than the factor suggests.
        """
        size, rank = len(part), len(part) - self._size
        if size >= self.records - 1:  # there cannot be more dimensions
            return True
        weights, _ = scipy.linalg.lapack.dtrtrs(self.factor[:size, :size], part, lower=1, trans=1)
        touched = np.abs(weights).max(axis=1) > TOUCHED
        starts = [0, *(step.end for step in self.steps)]
        others = [
            int(step.columns[0])
            for step, start in zip(self.steps, starts, strict=False)
            if touched[start : step.end].any()
        ]
        if len(others) == sum(step.columns.size > 0 for step in self.steps) > FEW:
            return False  # it would save nothing
        before = self.exact.rank(others) if others else 0
        after = self.exact.rank([*others, int(fresh[0])])
        return before is not None and after is not None and after - before <= rank

    def _left_over(self, fresh: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Project new columns (fresh,) of the design onto the factor.

        Returns:
            Their part in each row of the factor (size, fresh), and the residuals of their correlations with each other
            and of their targets.
        """
        size = self._size
        block = self.design.correlations[np.ix_(np.concatenate([self.places[:size], fresh]), fresh)]
        targets = self.targets[fresh]
        if not size or not fresh.size:
            return block[:size], block[size:], targets
        above = scipy.linalg.blas.dtrsm(1.0, self.factor[:size, :size], block[:size], lower=1)
        dependent = [step for step in self.steps if step.dependent.size]
        least = self._least() if dependent else DEPENDENT
        for step in dependent:
            rest = self.design.correlations[np.ix_(step.dependent, fresh)]
            _require_nothing(rest - step.part.T @ above[: len(step.part)], least)
        return above, block[size:] - above.T @ above, targets - above.T @ self.solved[:size]

    def _append(self, fresh: IntArray, above: FloatArray, lower: FloatArray, targets: FloatArray) -> None:
        """Add new columns to the factor: `above` is their part in its existing rows, `lower` the factor of the rest."""
        size, end = self._size, self._size + fresh.size
        if fresh.size:
            self.factor[size:end, :size] = above.T
            self.factor[size:end, size:end] = lower
            self.solved[size:end], _ = scipy.linalg.lapack.dtrtrs(lower, targets, lower=1)
            self.places[size:end] = fresh


def _pivoted(left: FloatArray, least: float) -> tuple[FloatArray, IntArray, int]:
    """The pivoted Cholesky factor of residuals (n, n), the order of its columns, and how many pivots exceed `least`."""
    if left.diagonal().max(initial=0.0) <= least:  # the library never compares the first pivot with `tol`
        return np.zeros(left.shape), np.arange(len(left)), 0
    factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(left, tol=least, lower=1)
    return np.tril(factor), pivots - 1, rank


def _require_nothing(rest: FloatArray, least: float) -> None:
    """Check that dimensions with a residual variance of at most `least` have no residual correlations."""
    if np.abs(rest).max(initial=0.0) > max(NEGLIGIBLE, 4 * math.sqrt(least)):
        raise _NoTableError


@dataclass(frozen=True, slots=True, eq=False)
class Traces:
    """The traces of configurations. All arrays are (configurations,).

    Attributes:
        trace: `V = tr(Sxx^+ Sxy Syy^+ Syx)`; NaN if no table has the counts of a configuration.
        rank: the rank of `Sxx`.
        doubt: the rounding error of the trace; infinite if unknown.
        coefficients: those of each (`InexactTrace`), for its standard errors; None if all counts are exact.
    """

    trace: FloatArray
    rank: IntArray
    doubt: FloatArray
    coefficients: Sequence[FloatArray] | None = None


def traces(design: Design, codes: Codes, label: IntArray) -> Traces:
    """Compute the traces of the configurations with these codes (configurations, attributes).

    Args:
        label: (labels,) the records of each label value.
    """
    if design.variance is not None:
        outcomes = inexact_traces(design, design.variance, codes)
        kept = np.array([outcome.kept for outcome in outcomes], dtype=np.int64)
        coefficients = [outcome.coefficients for outcome in outcomes]
        return Traces(
            np.array([outcome.trace for outcome in outcomes]), kept, np.full(len(codes), np.inf), coefficients
        )
    records = int(label.sum())
    order = _order(design, codes)
    arranged = codes[:, order]
    columns = [design.columns[attribute] for attribute in order]
    rows = np.lexsort(arranged.T[::-1])
    traced = Traces(np.empty(len(codes)), np.empty(len(codes), dtype=np.int64), np.empty(len(codes)))
    elimination = Elimination.of(design, columns, records)
    last = Outcome(0.0, 0, 0.0)
    for row, shared in zip(rows, _shared(arranged[rows]).tolist(), strict=True):
        if shared < codes.shape[1]:  # otherwise the row equals the previous one
            chosen = [of[code] for of, code in zip(columns, arranged[row].tolist(), strict=True)]
            last = elimination.replace(chosen, shared)
        traced.trace[row], traced.rank[row], traced.doubt[row] = last
    return traced


def _order(design: Design, codes: Codes) -> list[int]:
    """Order attributes so that successive configurations share the most: those with the fewest maskings first."""
    changes = [len(np.unique(column)) for column in codes.T]
    largest = [max((columns.size for columns in of), default=0) for of in design.columns]
    return sorted(range(len(changes)), key=lambda attribute: (changes[attribute], -largest[attribute]))


def _shared(codes: Codes) -> IntArray:
    """(configurations,) the number of leading attributes that each shares with the previous one; 0 for the first."""
    differs: BoolArray = codes[1:] != codes[:-1]
    first = np.where(differs.any(axis=1), differs.argmax(axis=1), codes.shape[1])
    return np.concatenate(([0], first)).astype(np.int64)
