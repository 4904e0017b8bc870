"""Measures of a joint table, one small function each, and their registry.

A table is (rows, labels) float64 counts. A row is a value; or an atom, then `atoms` brings what is left of
its values, which all have the atom's distribution over the labels. N is the total of the table; every measure
of an empty table is 0.

Sources: model, section 2; g1, g2, g3: Kivinen & Mannila 1995, "Approximate inference of functional
dependencies from relations".
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from app.advisor.arrays import FloatArray
from app.advisor.atoms import AtomStatistics
from app.advisor.errors import UnknownMeasureError

Unit = Literal["bit", "fraction"] | None
Direction = Literal["higher", "lower"]


def mutual_information(table: FloatArray, atoms: AtomStatistics | None = None) -> float:  # noqa: ARG001 - all measures are called alike
    """Mutual information in bits: `sum P log2(P / (P_a P_y))`, empty cells left out. Atoms change nothing."""
    held = table > 0
    expected = _expected(table)[held]
    observed = table[held]
    total = table.sum()
    return max(0.0, float(np.sum(observed * np.log2(observed / expected)) / total)) if total > 0 else 0.0


def chi_square(table: FloatArray, atoms: AtomStatistics | None = None) -> float:  # noqa: ARG001 - all measures are called alike
    """Pearson's statistic: `sum (O - E)^2 / E` where `E = row * column / N > 0`. Atoms change nothing."""
    expected = _expected(table)
    squares = (table - expected) ** 2
    return float(np.divide(squares, expected, out=np.zeros_like(squares), where=expected > 0).sum())


def g3(table: FloatArray, atoms: AtomStatistics | None = None) -> float:  # noqa: ARG001 - all measures are called alike
    """The least share of records to delete so that the value determines the label. Atoms change nothing."""
    total = table.sum()
    return max(0.0, 1.0 - float(table.max(axis=1).sum() / total)) if total > 0 else 0.0


def g1(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """Ordered pairs of records that agree on the value and differ on the label, over N^2.

    A value with `f` records and distribution `q` over the labels has `f^2 * sum q (1 - q)` of them, so that
    an atom needs the sum of `f^2` over its values.
    """
    total = table.sum()
    if total <= 0:
        return 0.0
    rows = table.sum(axis=1)
    squares = rows**2 if atoms is None else atoms.squares
    shares = np.divide(table, rows[:, np.newaxis], out=np.zeros_like(table), where=rows[:, np.newaxis] > 0)
    differing = np.sum(shares * (1.0 - shares), axis=1)
    return float(np.sum(squares / total / total * differing))


def g2(table: FloatArray, atoms: AtomStatistics | None = None) -> float:  # noqa: ARG001 - all measures are called alike
    """Records whose value occurs with another label too, over N. Atoms change nothing; the support does."""
    total = table.sum()
    mixed = np.count_nonzero(table, axis=1) > 1
    return float(table[mixed].sum() / total) if total > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure, and what is known about it.

    Attributes:
        id: its name in questions.
        unit: bit, fraction, or None.
        better: which direction means more utility.
        monotone: merging rows never improves it (data-processing inequality); the guarantee
            that a ranking is exact hangs on it.
        formula: plain text.
        function: from a table (rows, labels) and, for atoms, their statistics, to its value.
        least_at_reference: the reference, having the largest entropy, has the least utility (variant I).
        depends_on_support: it asks which cells are empty, which an iterative solution only approaches.
    """

    id: str
    unit: Unit
    better: Direction
    monotone: bool
    formula: str
    function: Callable[[FloatArray, AtomStatistics | None], float]
    least_at_reference: bool = False
    depends_on_support: bool = False

    def __call__(self, table: FloatArray, atoms: AtomStatistics | None = None) -> float:
        """The value of a table (rows, labels)."""
        return self.function(table, atoms)

    def best(self, values: list[float]) -> float:
        """The value of the most utility."""
        return max(values) if self.better == "higher" else min(values)


MEASURES = MappingProxyType(
    {
        measure.id: measure
        for measure in (
            Measure(
                "mutual_information",
                "bit",
                "higher",
                monotone=True,
                formula="sum P log2(P / (P_a P_y))",
                function=mutual_information,
                least_at_reference=True,
            ),
            Measure(
                "chi_square",
                None,
                "higher",
                monotone=True,
                formula="sum (O - E)^2 / E, E = row * column / N, cells with E = 0 left out",
                function=chi_square,
            ),
            Measure(
                "g3",
                "fraction",
                "lower",
                monotone=True,
                formula="1 - sum_a max_y F(a, y) / N",
                function=g3,
            ),
            Measure(
                "g1",
                "fraction",
                "lower",
                monotone=True,
                formula="ordered pairs of records that agree on A and differ on Y, over N^2",
                function=g1,
            ),
            Measure(
                "g2",
                "fraction",
                "lower",
                monotone=True,
                formula="records in at least one pair that agrees on A and differs on Y, over N",
                function=g2,
                depends_on_support=True,
            ),
        )
    }
)
"""Every measure by its id."""


def measure_named(measure: str) -> Measure:
    """The measure of that id; UnknownMeasureError if there is none."""
    try:
        return MEASURES[measure]
    except KeyError:
        raise UnknownMeasureError(measure) from None


def _expected(table: FloatArray) -> FloatArray:
    """The table (rows, labels) of the same margins in which rows and labels are independent."""
    total = max(float(table.sum()), np.finfo(np.float64).tiny)
    expected: FloatArray = table.sum(axis=1, keepdims=True) * (table.sum(axis=0, keepdims=True) / total)
    return expected
