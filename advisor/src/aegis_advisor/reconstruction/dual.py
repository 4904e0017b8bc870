"""The dual of a problem: a smooth convex function with one multiplier for each known count.

The table that minimises KL(F || prior) subject to its margins has the form `F = prior * exp(sum of multipliers)`
(Csiszar 1975). In variant I the rows need no multipliers: each row is a softmax, scaled to its records.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import scipy

from aegis_advisor.arrays import BoolArray, FloatArray
from aegis_advisor.reconstruction.problem import Margin, Problem, design_of

MOST_OVERLAPS = 1_000_000
"""The most pairs of groups, and of groups of an atom, for which the products of shares are stored."""


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Multipliers with their table, the value of the dual and its gradient.

    Attributes:
        multipliers: (groups, labels), the groups of all margins one after the other.
        table: (atoms, labels), shares of the records.
        value: the value of the dual function, to be minimised; its negative is a lower bound of the divergence.
        gradient: (groups, labels), the excess of the table's margins.
    """

    multipliers: FloatArray
    table: FloatArray
    value: float
    gradient: FloatArray

    @property
    def gap(self) -> float:
        """A bound on the error of any margin or union of its groups: the largest sum over a label's absolute errors."""
        return float(np.abs(self.gradient).sum(axis=0).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Dual:
    """The dual function of a problem, in shares of the records.

    Attributes:
        design: (atoms, groups) sparse, the share of each atom's records that is in each group.
        targets: (groups, labels) the margins to be met.
        ridge: (groups, labels) the variance of each target times the weight of the prior; 0 if the target is exact.
        log_prior: (atoms, labels) the logarithm of the prior as a share of all records in variant II, of the atom's
            records in variant I; minus infinity where an exact margin leaves no records.
        rows: (atoms,) in variant I, else None.
        blocks: the margins that merge labels, with their places among the groups.
    """

    design: "scipy.sparse.csr_array"
    targets: FloatArray
    ridge: FloatArray
    log_prior: FloatArray
    rows: FloatArray | None
    blocks: tuple[tuple[slice, Margin], ...] = ()

    @classmethod
    def of(cls, problem: Problem, prior_weight: float) -> Self:
        """Return the dual of a problem.

        With inexact counts it minimises `prior_weight * KL(F || prior) + sum (margin - count)^2 / (2 variance)`
        (generalised maximum entropy: Dudik, Phillips & Schapire 2007). Exact counts are a special case.
        """
        ridges = [
            np.zeros_like(margin.counts) if margin.variance is None else margin.variance for margin in problem.margins
        ]
        records = problem.records
        ends = np.cumsum([margin.groups for margin in problem.margins]).tolist()
        placed = zip(ends, problem.margins, strict=True)
        return cls(
            blocks=tuple((slice(end - one.groups, end), one) for end, one in placed if one.column_of is not None),
            design=design_of(problem),
            targets=np.vstack([margin.counts for margin in problem.margins]) / records,
            ridge=np.vstack(ridges) * (prior_weight / records),
            log_prior=_log_prior(problem),
            rows=None if problem.rows is None else problem.rows / records,
        )

    def without(self, empty: BoolArray) -> Self:
        """Return the dual with these cells (atoms, labels) empty."""
        return replace(self, log_prior=np.where(empty, -np.inf, self.log_prior))

    def spread(self, columns: FloatArray) -> FloatArray:
        """Give each label the column (groups, labels) of its class, as in `Margin.spread`."""
        return self._in_blocks(columns, Margin.spread)

    def merged(self, sums: FloatArray) -> FloatArray:
        """Add up the columns (groups, labels) of each class of labels, as in `Margin.merged`."""
        return self._in_blocks(sums, Margin.merged)

    def _in_blocks(self, columns: FloatArray, change: Callable[[Margin, FloatArray], FloatArray]) -> FloatArray:
        if not self.blocks:
            return columns
        changed = columns.copy()
        for place, margin in self.blocks:
            changed[place] = change(margin, columns[place])
        return changed

    @cached_property
    def transposed(self) -> "scipy.sparse.csr_array":
        """The transposed design (groups, atoms)."""
        return scipy.sparse.csr_array(self.design.T)

    @cached_property
    def overlaps(self) -> "scipy.sparse.csr_array | None":
        """The products (groups * groups, atoms) of an atom's shares in each two groups; None if there are too many.

        Times weights (atoms,) they are the weighted Gram matrix of the design: the overlap of each two groups.
        """
        groups = self.targets.shape[0]
        of_atom = np.diff(self.design.indptr)
        if max(int(np.sum(of_atom.astype(np.int64) ** 2)), groups * groups) > MOST_OVERLAPS:
            return None
        first = np.repeat(np.arange(self.design.nnz), np.repeat(of_atom, of_atom))
        place = np.arange(first.size) - np.repeat(np.cumsum(of_atom**2) - of_atom**2, of_atom**2)
        atom = np.repeat(np.arange(of_atom.size), of_atom**2)
        second = self.design.indptr[atom] + place % of_atom[atom]
        rows = self.design.indices[first].astype(np.int64) * groups + self.design.indices[second]
        shares = self.design.data[first] * self.design.data[second]
        return scipy.sparse.csr_array((shares, (rows, atom)), shape=(groups * groups, of_atom.size))

    @cached_property
    def free(self) -> BoolArray:
        """Which multipliers (groups, labels) are used: not those of exact counts of 0, whose cells are empty anyway."""
        free: BoolArray = (self.targets > 0) | (self.ridge > 0)
        return free

    @cached_property
    def needed(self) -> BoolArray:
        """Which multipliers (groups, labels) suffice.

        In variant I one label of each group needs none, since a constant added to all labels cancels in the rows.
        """
        needed = self.free.copy()
        if self.rows is not None:
            exact = np.flatnonzero((self.ridge == 0).all(axis=1))
            needed[exact, self.targets[exact].argmax(axis=1)] = False
        return needed

    def at(self, multipliers: FloatArray) -> Point:
        """Return the point at some multipliers (groups, labels). An overflow makes its value infinite."""
        exponents = self.log_prior + self.design @ self.spread(multipliers)
        if self.rows is None:
            with np.errstate(over="ignore"):
                table = np.exp(exponents)
                partition = float(table.sum())
        else:
            shares, heights = _softmax(exponents)
            table = self.rows[:, np.newaxis] * shares
            partition = float(self.rows @ heights)
        penalties = self.ridge * multipliers
        value = partition - float(np.sum((self.targets - penalties / 2) * multipliers))
        return Point(multipliers, table, value, self.merged(self.transposed @ table) - self.targets + penalties)


def _softmax(exponents: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Each row (atoms, labels) as shares, and the logarithm (atoms,) of its sum before the scaling.

    A row without allowed cells has shares of 0; the evidence is then contradictory.
    """
    highest = exponents.max(axis=1)
    highest[np.isneginf(highest)] = 0.0
    shares = np.exp(exponents - highest[:, np.newaxis])
    totals = shares.sum(axis=1)
    totals[totals == 0] = 1.0
    return shares / totals[:, np.newaxis], highest + np.log(totals)


def _log_prior(problem: Problem) -> FloatArray:
    """The logarithm of the prior's table, scaled row by row in variant I; minus infinity where an exact count is 0."""
    scale = problem.records if problem.rows is None else problem.rows[:, np.newaxis]
    return np.where(problem.allowed(), np.log(problem.start() / scale), -np.inf)
