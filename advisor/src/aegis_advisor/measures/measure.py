"""The description of a measure: its functions and their properties."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeVar, cast

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.atoms import AtomStatistics
from aegis_advisor.evidence.likely import LikelyTables
from aegis_advisor.measures.partial_table import GroupLimits, PartialTable, RowLimits
from aegis_advisor.measures.rounding import RoundingRule

Unit = Literal["bit", "fraction"] | None
Direction = Literal["higher", "lower"]
Guarantee = Literal["exact", "none"]

Function = Callable[[FloatArray, AtomStatistics | None], float]
Gradient = Callable[[FloatArray, AtomStatistics | None], FloatArray]
ByRow = Callable[[RowLimits, PartialTable], FloatArray]
ByGroup = Callable[[GroupLimits, PartialTable], FloatArray]
Scorable = TypeVar("Scorable", bound=Callable[..., Any] | None)


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The highest utility of a table with known margins and views.

    The measure of such a table is a function of a score, a sum over its rows (see `utility_ceilings`). If lower is
    better, the ceiling is the lowest value of the measure.

    Attributes:
        by_row: the highest score of each kind of row (kinds,).
        by_group: the highest total score of the rows of each group (groups,).
        at: the measure at a score.
        needs_rows: whether it needs the histogram.
    """

    by_row: ByRow
    by_group: ByGroup
    at: Callable[[float, PartialTable], float]
    needs_rows: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure and its properties. Its functions take a table (rows, labels) and, for atoms, their statistics.

    Attributes:
        id: its name in questions.
        unit: bit, fraction, or None.
        better: the direction of more utility.
        monotone: whether merging rows never improves it (data-processing inequality); the guarantee
            of an exact ranking relies on it.
        reason: one sentence on why it is monotone, or why not.
        label_monotone: whether merging labels never improves it either.
        label_reason: one sentence on why it is monotone in the label, or why not.
        formula: plain text.
        source: its publication.
        function: its value.
        slopes: the derivative (rows, labels) with respect to the count of each cell with records; other cells are
            meaningless. None if the measure depends on which cells have records: no sample then shows its variance, and
            it has no standard error.
        ceiling: the highest utility that an attribute can have, given its views.
        scale: near independence, where the gradient vanishes, the measure varies like this multiple of a chi-square
            variable with the table's degrees of freedom; None if the gradient does not vanish there.
        bias: how much the measure of a sample exceeds that of its population on average, estimated from the sample
            (`measures.bias`); None if unknown.
        bias_is_most: whether the estimate is an upper bound; it then never enlarges a difference.
        rounding: the bias due to rounded counts (`measures.rounding`); None if they add nothing on average.
        correction: the bias that a question may have subtracted, where it is positive; None if there is none.
        of_information: its value at a mutual information, given the entropies of the values and of the label (all in
            bits); None unless it grows with mutual information. If it does, the reference has the lowest utility, since
            it has the largest entropy (variant I).
        depends_on_support: whether it depends on which cells are empty; an iterative solution only approaches 0.
        corrected_by_default: whether its bias is corrected by default, because it would mislead too much.
        is_joint: whether it measures all attributes of a configuration together; its `function` measures a single
            attribute.
        sees_interactions: whether it also needs the associations of pairs with the label.
        weighs_values: whether its gradient differs between values of an atom that have different counts.
        is_steep: whether its slope is unbounded where a cell becomes empty, as that of a logarithm: one more record
            there changes it much.
        uses_scores: whether it depends on scores of the label's classes, which its functions take as `numbers`
            (`scored`).
        of_scores: the measure in whose place it stands for a label with stated scores; None for itself.
        is_corrected: whether its bias is subtracted; then neither its ceiling nor its guarantee of exactness is valid.
    """

    id: str
    unit: Unit
    better: Direction
    monotone: bool
    reason: str
    label_monotone: bool
    label_reason: str
    formula: str
    source: str
    function: Function
    slopes: Gradient | None
    ceiling: Ceiling
    scale: Function | None = None
    bias: Function | None = None
    bias_is_most: bool = False
    rounding: RoundingRule | None = None
    correction: Function | None = None
    of_information: Callable[[float, float, float], float] | None = None
    depends_on_support: bool = False
    corrected_by_default: bool = False
    is_joint: bool = False
    sees_interactions: bool = False
    weighs_values: bool = False
    is_steep: bool = False
    uses_scores: bool = False
    of_scores: "Measure | None" = None
    is_corrected: bool = False

    def __call__(self, table: FloatArray, atoms: AtomStatistics | None = None) -> float:
        """Return the measure of a table (rows, labels)."""
        return self.function(table, atoms)

    def gradient(self, table: FloatArray, atoms: AtomStatistics | None = None) -> FloatArray:
        """The derivative (rows, labels) with respect to each count; 0 for cells without records.

        Raises:
            ValueError: the measure has no gradient.
        """
        if self.slopes is None:
            raise ValueError(f"the measure {self.id} has no gradient")
        held = table > 0
        return np.where(held, self.slopes(table, atoms), 0.0) if held.any() else np.zeros(table.shape)

    def second_order(self, table: FloatArray, atoms: AtomStatistics | None = None) -> float:
        """The scale of the second-order variation (see `scale`); 0 if the gradient suffices."""
        return self.scale(table, atoms) if self.scale is not None and table.sum() > 0 else 0.0

    def sampling_bias(self, table: FloatArray, atoms: AtomStatistics | None = None) -> float:
        """The estimated bias of a sample; 0 where unknown."""
        return self.bias(table, atoms) if self.bias is not None and table.sum() > 0 else 0.0

    def likely_bias(self, likely: LikelyTables, atoms: AtomStatistics | None = None) -> float:
        """The estimated bias of the sample behind rounded counts; it differs little between likely tables."""
        return self.sampling_bias(likely.one, atoms)

    def without_rounding(self, table: FloatArray, atoms: AtomStatistics | None, likely: LikelyTables) -> float:
        """The measure of a table of rounded counts, less the expected bias of rounding.

        It may be less than that of a table with one row.
        """
        return self._rounded(table, atoms, likely)[0]

    def less_rounding(self, table: FloatArray, atoms: AtomStatistics | None, likely: LikelyTables) -> float:
        """The same, but less only the part of the bias beyond `SURE` errors of rounding.

        Subtracting a bias within these errors makes the order worse. Where the bias is corrected, all of it is
        subtracted.
        """
        return self._rounded(table, atoms, likely)[1]

    def _rounded(self, table: FloatArray, atoms: AtomStatistics | None, likely: LikelyTables) -> tuple[float, float]:
        key = self.id, self.is_corrected, atoms is None
        if key not in likely.utilities:
            likely.utilities[key] = self._without_rounding(table, atoms, likely)
        return likely.utilities[key]

    def _without_rounding(
        self, table: FloatArray, atoms: AtomStatistics | None, likely: LikelyTables
    ) -> tuple[float, float]:
        utility, (gain, deviation) = self(table, atoms), self.rounding_gain(likely)
        if self.rounding is None or gain == 0:
            return utility, utility
        if self.is_corrected:
            whole = self.rounding.removed(utility + self._subtracted(table, atoms), table, atoms, gain)
            return (whole - self._subtracted(likely.one, atoms),) * 2
        without = self.rounding.removed(utility, table, atoms, gain)
        added, error = utility - without, self.rounding.error(without, table, atoms, deviation)
        if self.rounding.left(added, error) != added:  # else a larger error makes no difference
            moved = float(np.sum(likely.variances @ np.square(self.gradient_of(table, atoms, likely))))
            error = math.hypot(error, math.sqrt(moved))
        return without, without + self.rounding.left(added, error)

    def gradient_of(
        self, table: FloatArray, atoms: AtomStatistics | None = None, likely: LikelyTables | None = None
    ) -> FloatArray:
        """The `gradient`; that of a table of rounded counts is computed once."""
        if likely is None:
            return self.gradient(table, atoms)
        key = self.id, atoms is None
        if key not in likely.gradients:
            likely.gradients[key] = self.gradient(table, atoms)
        return likely.gradients[key]

    def without_noise(
        self, utility: float, table: FloatArray, variance: float, atoms: AtomStatistics | None = None
    ) -> float:
        """A utility of a table fitted to counts with errors of this variance, less their expected contribution."""
        if self.rounding is None or table.sum() <= 0:
            return utility
        return self.rounding.removed(utility, table, atoms, self.rounding.noise_gain(table, variance))

    def rounding_gain(self, likely: LikelyTables) -> tuple[float, float]:
        """The mean and standard deviation of the contribution of rounding to its score (`RoundingRule`)."""
        return (0.0, 0.0) if self.rounding is None else self.rounding.gain(likely)

    def rounding_error(self, table: FloatArray, atoms: AtomStatistics | None, likely: LikelyTables) -> float:
        """The standard deviation of the rounding bias of a table's measure, without first-order errors."""
        if self.rounding is None or (deviation := self.rounding_gain(likely)[1]) == 0:
            return 0.0
        return self.rounding.error(self.without_rounding(table, atoms, likely), table, atoms, deviation)

    def tangent(self, table: FloatArray, atoms: AtomStatistics | None = None) -> float | None:
        """The value at which the slope of a root is taken; None for other measures, and if there is none."""
        scale = self.second_order(table, atoms)
        if self.rounding is None or not self.rounding.squared or scale == 0:
            return None
        return self.rounding.rate(table, atoms) / (2 * scale)

    def _subtracted(self, table: FloatArray, atoms: AtomStatistics | None) -> float:
        """The subtracted bias, where it is corrected."""
        return 0.0 if self.correction is None else max(0.0, self.correction(table, atoms))

    @property
    def has_errors(self) -> bool:
        """Whether it has standard errors."""
        return self.slopes is not None

    @property
    def guarantee(self) -> Guarantee:
        """Whether a ranking by this measure can be proven to be the true one."""
        return "exact" if self.monotone else "none"

    @property
    def label_guarantee(self) -> Guarantee:
        """The same of configurations that mask the label, too."""
        return "exact" if self.monotone and self.label_monotone else "none"

    def best(self, values: list[float]) -> float:
        """The value of highest utility."""
        return max(values) if self.better == "higher" else min(values)

    def scored(self, numbers: FloatArray | None) -> "Measure":
        """Return this measure for a label whose classes have these scores (labels,); None without stated ones."""
        if numbers is not None and self.of_scores is not None:
            return replace(self.of_scores.scored(numbers), id=self.id)
        if not self.uses_scores or numbers is None:
            return self

        def bound(function: Scorable) -> Scorable:
            return function if function is None else cast("Scorable", partial(function, numbers=numbers))

        limits = self.ceiling
        return replace(
            self,
            function=bound(self.function),
            slopes=bound(self.slopes),
            ceiling=replace(limits, by_row=bound(limits.by_row), by_group=bound(limits.by_group), at=bound(limits.at)),
            scale=bound(self.scale),
            bias=bound(self.bias),
            rounding=self.rounding and replace(self.rounding, numbers=numbers),
            correction=bound(self.correction),
        )

    def corrected(self) -> "Measure":
        """Return this measure minus its correction.

        It is an estimate, which may be negative. Merging rows or labels may improve it.

        Raises:
            ValueError: it has no correction.
        """
        function, bias, correction = self.function, self.bias, self.correction
        if bias is None or correction is None:
            raise ValueError(f"{self.id} has no correction of its bias")

        def subtracted(table: FloatArray, atoms: AtomStatistics | None) -> float:
            return max(0.0, correction(table, atoms))

        return replace(
            self,
            monotone=False,
            label_monotone=False,
            function=lambda table, atoms: function(table, atoms) - subtracted(table, atoms),
            bias=lambda table, atoms: bias(table, atoms) - subtracted(table, atoms),
            of_information=None,
            is_corrected=True,
        )
