"""What is known about a measure, besides how it is computed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.atoms import AtomStatistics
from aegis_advisor.measures.partial_table import GroupLimits, PartialTable, RowLimits

Unit = Literal["bit", "fraction"] | None
Direction = Literal["higher", "lower"]
Guarantee = Literal["exact", "none"]

Function = Callable[[FloatArray, AtomStatistics | None], float]
Gradient = Callable[[FloatArray, AtomStatistics | None], FloatArray]
ByRow = Callable[[RowLimits, PartialTable], FloatArray]
ByGroup = Callable[[GroupLimits, PartialTable], FloatArray]


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most utility of a table of which only margins and views are known (the least, where lower is better).

    The measure of such a table is a function of a score, a sum over its rows (see `utility_ceilings`).

    Attributes:
        by_row: the most that each kind of row (kinds,) can score.
        by_group: the most that the rows of each group (groups,) can score together.
        at: the measure at that much score.
        needs_rows: it cannot be told without the histogram.
    """

    by_row: ByRow
    by_group: ByGroup
    at: Callable[[float, PartialTable], float]
    needs_rows: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure, and what is known about it. Functions take a table (rows, labels) and, for atoms, their statistics.

    Attributes:
        id: its name in questions.
        unit: bit, fraction, or None.
        better: which direction means more utility.
        monotone: merging rows never improves it (data-processing inequality); the guarantee
            of an exact ranking relies on it.
        reason: one sentence: why it is monotone, or how it comes that it is not.
        formula: plain text.
        source: the work that it is taken from.
        function: its value.
        slopes: the derivative (rows, labels) by the count of each cell that has records; cells without have no meaning.
        ceiling: the most utility that an attribute can have, given its views.
        scale: near independence, where the gradient vanishes, it varies like so many times a chi-square variable
            of the table's degrees of freedom; None where the gradient does not vanish there.
        bias: by how much a sample of N records exceeds its population on average; None where that is not known.
        of_information: its value at that much mutual information, given the entropies of the values and of the label
            (all in bits), where it grows with it: then the reference, having the largest entropy, has the least
            utility (variant I).
        depends_on_support: it asks which cells are empty, which an iterative solution only approaches.
        corrected_by_default: questions that say nothing of the bias want it corrected: it misleads more than it may.
        is_joint: it sees all attributes of a configuration together; its function is that of one attribute alone.
        weighs_values: its gradient differs between the values of an atom, unless they have equal counts.
        is_corrected: it is less its bias, and neither its ceiling nor what is said of exactness holds of it.
    """

    id: str
    unit: Unit
    better: Direction
    monotone: bool
    reason: str
    formula: str
    source: str
    function: Function
    slopes: Gradient
    ceiling: Ceiling
    scale: Function | None = None
    bias: Function | None = None
    of_information: Callable[[float, float, float], float] | None = None
    depends_on_support: bool = False
    corrected_by_default: bool = False
    is_joint: bool = False
    weighs_values: bool = False
    is_corrected: bool = False

    def __call__(self, table: FloatArray, atoms: AtomStatistics | None = None) -> float:
        """The value of a table (rows, labels)."""
        return self.function(table, atoms)

    def gradient(self, table: FloatArray, atoms: AtomStatistics | None = None) -> FloatArray:
        """The derivative (rows, labels) by each count; 0 for cells without records, and for an empty table."""
        held = table > 0
        return np.where(held, self.slopes(table, atoms), 0.0) if held.any() else np.zeros(table.shape)

    def second_order(self, table: FloatArray, atoms: AtomStatistics | None = None) -> float:
        """The scale of what the gradient does not tell (see `scale`); 0 where it tells enough."""
        return self.scale(table, atoms) if self.scale is not None and table.sum() > 0 else 0.0

    @property
    def guarantee(self) -> Guarantee:
        """Whether a ranking by it can be proven to be the true one."""
        return "exact" if self.monotone else "none"

    def best(self, values: list[float]) -> float:
        """The value of the most utility."""
        return max(values) if self.better == "higher" else min(values)

    def corrected(self) -> "Measure":
        """The same less its bias in small samples: an estimate, which merging rows may improve; it may be negative.

        Raises:
            ValueError: the bias is not known.
        """
        function, bias = self.function, self.bias
        if bias is None:
            raise ValueError(f"the bias of {self.id} is not known")
        return replace(
            self,
            monotone=False,
            function=lambda table, atoms: function(table, atoms) - bias(table, atoms),
            of_information=None,
            is_corrected=True,
        )
