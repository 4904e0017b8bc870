"""Sums that are linear combinations of known sums, with a proof in whole numbers."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray

INDEPENDENT = 1e-9
"""A pivot below this share of the largest is a rounding error: the group depends on those before it."""

NEAR = 1e-6
"""A coefficient this close to a fraction is taken for it, and then checked in whole numbers."""

ROUNDING = 1e-10
"""The relative accuracy of a count computed in doubles."""

LARGEST_DENOMINATOR = 60
"""The largest common denominator tried. For runs, trees and two views it is 1."""

EXACT = float(2**53)
"""Sums of whole numbers below this are exact in doubles."""


@dataclass(frozen=True, slots=True, eq=False)
class RowSpace:
    """The linear combinations of the indicators of groups with known counts.

    Attributes:
        indicators: (groups, atoms) float64, 1 where an atom is in a group, else 0.
        counts: (groups, labels) int64, the counts of the groups.
        basis: (rank,) independent groups; all others are combinations of them.
        directions: (atoms, rank) float64, an orthonormal basis of the combinations.
        triangle: (rank, rank) float64: `directions @ triangle` is the transposed indicators of the basis.
    """

    indicators: FloatArray
    counts: IntArray
    basis: IntArray
    directions: FloatArray
    triangle: FloatArray

    @classmethod
    def of(cls, indicators: FloatArray, counts: IntArray) -> Self | None:
        """Return the combinations of these groups; None if their counts contradict each other."""
        directions, triangle, order = scipy.linalg.qr(indicators.T, mode="economic", pivoting=True)
        pivots = np.abs(np.diagonal(triangle))
        rank = int(np.count_nonzero(pivots > INDEPENDENT * pivots[0]))
        basis, others = order[:rank].astype(np.int64), order[rank:]
        square = triangle[:rank, :rank]
        implied = scipy.linalg.solve_triangular(square, triangle[:rank, rank:]).T @ counts[basis]
        rounding = NEAR + ROUNDING * float(counts.max(initial=0))
        if np.abs(implied - counts[others]).max(initial=0.0) > rounding:
            return None
        return cls(indicators, counts, basis, np.asarray(directions[:, :rank]), np.asarray(square))

    def only_table(self) -> IntArray | None:
        """The counts (atoms, labels) of the only table with these sums; None if there may be others.

        The solution is rounded to whole numbers and checked against every sum. No other table has the same sums: the
        atoms' indicators are proven to be independent (`is_regular`).
        """
        seems_determined = len(self.basis) == len(self.indicators.T)
        if not seems_determined or not is_regular(self.indicators.T @ self.indicators):
            return None
        right = self.counts[self.basis].astype(np.float64)
        table = np.rint(self.directions @ scipy.linalg.solve_triangular(self.triangle, right, trans="T"))
        return table.astype(np.int64) if np.array_equal(self.indicators @ table, self.counts) else None

    def null_vector(self, rng: np.random.Generator) -> FloatArray:
        """(atoms,) a random vector orthogonal to all combinations, almost surely not to indicators of other sets."""
        drawn = rng.standard_normal(self.indicators.shape[1])
        orthogonal: FloatArray = drawn - self.directions @ (self.directions.T @ drawn)
        return orthogonal

    def totals(self, sets: FloatArray) -> tuple[BoolArray, IntArray]:
        """The counts of sets of atoms, if their indicators are combinations of those of the groups.

        The coefficients are fractions, estimated by least squares. The equation
        `denominator * set = sum coefficient * group` is then checked in whole numbers.

        Args:
            sets: (atoms, sets) float64, 1 where an atom is in a set, else 0.

        Returns:
            (sets,) whether the counts are known, and the counts (sets, labels), 0 where unknown.
        """
        wanted = self.directions.T @ sets
        proven = np.zeros(sets.shape[1], dtype=bool)
        totals = np.zeros((sets.shape[1], self.counts.shape[1]), dtype=np.int64)
        near = np.abs(sets - self.directions @ wanted).max(axis=0, initial=0.0) < NEAR
        coefficients = scipy.linalg.solve_triangular(self.triangle, wanted)
        for denominator in range(1, LARGEST_DENOMINATOR + 1):
            left = np.flatnonzero(near & ~proven)
            if not left.size:
                break
            scaled = denominator * coefficients[:, left]
            whole = np.abs(scaled - np.rint(scaled)).max(axis=0, initial=0.0) < denominator * NEAR
            chosen = left[whole]
            holds, sums = self._checked(np.rint(scaled[:, whole]), denominator, sets[:, chosen])
            proven[chosen], totals[chosen[holds]] = holds, sums[holds]
        return proven, totals

    def _checked(self, coefficients: FloatArray, denominator: int, sets: FloatArray) -> tuple[BoolArray, IntArray]:
        """Whether combinations (basis, sets) are `denominator` times the sets, and the counts that follow."""
        counts = self.counts[self.basis]
        sizes = np.abs(coefficients).sum(axis=0)
        exact = sizes * max(float(counts.max(initial=0)), denominator) < EXACT
        equal = np.all(self.indicators[self.basis].T @ coefficients == denominator * sets, axis=0)
        sums = np.where(exact, coefficients, 0.0).astype(np.int64).T @ counts
        return exact & equal & np.all(sums % denominator == 0, axis=1), sums // denominator


def is_regular(gram: FloatArray) -> bool:
    """Whether a matrix (n, n) of whole numbers is proven to be regular, despite rounding errors.

    A matrix `G` with an approximate inverse `X` such that `||I - X G|| < 1` is not singular (Rump 2010, "Verification
    methods: rigorous results using floating-point arithmetic").
    """
    try:
        inverse = np.asarray(scipy.linalg.inv(gram))
    except scipy.linalg.LinAlgError:
        return False
    off = np.abs(np.eye(len(gram)) - inverse @ gram).sum(axis=1).max()
    rounding = 2 * len(gram) * np.finfo(np.float64).eps * (np.abs(inverse) @ gram).sum(axis=1).max()
    return bool(off + rounding < 1.0)
