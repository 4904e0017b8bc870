"""Pillai's trace of one configuration after another; each keeps what it shares with the one before."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import blas, lapack

from app.advisor.arrays import BoolArray, FloatArray, IntArray
from app.advisor.blocks import Codes
from app.advisor.errors import ContradictoryPairsError
from app.advisor.joint.design import Design

RIDGE = 1e-10
"""What a function of an attribute is charged for each unit of its variance, so that redundant attributes divide by
something. It is a charge on functions, not on coordinates: a finer masking has all functions of a coarser one at the
same price, so that the trace stays monotone."""

DEPENDENT = 1e-7
"""A dimension that keeps less of its variance, given those before it, adds nothing to the rank."""

EXCESS = 1e-6
"""No canonical correlation exceeds 1 by more than rounding, unless no table has these counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Traces:
    """Of each configuration: `V = tr(Sxx^+ Sxy Syy^+ Syx)` and the rank of `Sxx`, both (configurations,)."""

    trace: FloatArray
    rank: IntArray


def traces(design: Design, codes: Codes) -> Traces:
    """The traces of the configurations with these codes (configurations, attributes).

    Raises:
        ContradictoryPairsError: no table has these counts, taken together.
    """
    order = _order(design, codes)
    arranged = codes[:, order]
    columns = [design.columns[attribute] for attribute in order]
    rows = np.lexsort(arranged.T[::-1])
    found = Traces(np.empty(len(codes)), np.empty(len(codes), dtype=np.int64))
    elimination = _Elimination.of(design, columns)
    for row, shared in zip(rows, _shared(arranged[rows]), strict=True):
        chosen = [of[code] for of, code in zip(columns, arranged[row].tolist(), strict=True)]
        try:
            found.trace[row], found.rank[row] = elimination.replace(chosen, int(shared))
        except np.linalg.LinAlgError:
            raise ContradictoryPairsError(int(row)) from None
    return found


def _order(design: Design, codes: Codes) -> list[int]:
    """Attributes that change seldom come first, so that most is shared; of those that change alike, the larger."""
    changes = [len(np.unique(column)) for column in codes.T]
    largest = [max((columns.size for columns in of), default=0) for of in design.columns]
    return sorted(range(len(changes)), key=lambda attribute: (changes[attribute], -largest[attribute]))


def _shared(codes: Codes) -> IntArray:
    """(configurations,) how many attributes, from the first on, each has in common with the one before; 0 at first."""
    differs: BoolArray = codes[1:] != codes[:-1]
    first = np.where(differs.any(axis=1), differs.argmax(axis=1), codes.shape[1])
    return np.concatenate(([0], first)).astype(np.int64)


@dataclass(slots=True, eq=False)
class _Elimination:
    """The Cholesky factor `L` of the correlations of a configuration, and `L^-1` times those with the label.

    Their squares add up to the trace: column by column what each dimension explains beyond those before it.
    """

    design: Design
    factor: FloatArray
    solved: FloatArray

    @classmethod
    def of(cls, design: Design, columns: Sequence[tuple[IntArray, ...]]) -> Self:
        most = sum(max((each.size for each in of), default=0) for of in columns)
        return cls(design, np.zeros((most, most), order="F"), np.zeros((most, design.labels.shape[1])))

    def replace(self, chosen: list[IntArray], shared: int) -> tuple[float, int]:
        """The trace and the rank of a configuration, given per attribute its columns; the first `shared` are as before.

        Raises LinAlgError where the correlations are those of no table.
        """
        kept = sum(each.size for each in chosen[:shared])
        self._eliminate(np.concatenate(chosen), kept)
        size = sum(each.size for each in chosen)
        solved = self.solved[:size]
        if size and np.linalg.norm(solved, 2) > 1 + EXCESS:
            raise np.linalg.LinAlgError
        pivots = np.square(self.factor.diagonal()[:size])
        return float(np.sum(solved**2)), int(np.count_nonzero(pivots > DEPENDENT))

    def _eliminate(self, places: IntArray, kept: int) -> None:
        """Renew the rows of the factor from the row `kept` on."""
        fresh, end = places[kept:], places.size
        if not fresh.size:
            return
        block = self.design.correlations[np.ix_(places, fresh)]
        labels = self.design.labels[fresh]
        if kept:
            above = blas.dtrsm(1.0, self.factor[:kept, :kept], block[:kept], lower=1)
            self.factor[kept:end, :kept] = above.T
            block = block[kept:] - above.T @ above
            labels = labels - above.T @ self.solved[:kept]
        block[np.diag_indices(fresh.size)] += RIDGE
        lower, failed = lapack.dpotrf(block, lower=1)
        if failed:
            raise np.linalg.LinAlgError
        self.factor[kept:end, kept:end] = lower
        self.solved[kept:end], _ = lapack.dtrtrs(lower, labels, lower=1)
