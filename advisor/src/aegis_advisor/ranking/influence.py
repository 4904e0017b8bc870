"""The influence of the sample on the utility of each masking of an attribute."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray, fold
from aegis_advisor.atoms import AtomStatistics, per_atom
from aegis_advisor.evidence import (
    DROP,
    IDENTITY,
    AttributeEvidence,
    LikelyTables,
    Masking,
    likely_tables,
    sum_variances,
)
from aegis_advisor.evidence.attribute import exact_counts
from aegis_advisor.measures import Measure
from aegis_advisor.measures.partial_table import occupied, ratio
from aegis_advisor.ranking.deviation import REFERENCE, masking_table, measured
from aegis_advisor.reconstruction import Reference

ENOUGH = 2.0
"""The expected records under independence from which the noise of a cell is known. As measured, a lower threshold
removes less noise, a higher one misses more real differences."""


@dataclass(frozen=True, eq=False)
class Sample:
    """The table of an attribute on which its maskings are compared with each other.

    Attributes:
        reference: its rows are atoms; for a measure whose gradient differs between the values of an atom, its rows are
            sets of values of an atom with equal counts.
        shares: (labels,) the shares of the records.
        freedom: the number of atoms with records, minus one; within an atom the reference has no association.
        is_steep: whether records in empty cells would change the measure much (`Measure.is_steep`).
    """

    reference: Reference
    shares: FloatArray
    freedom: int
    is_steep: bool

    @classmethod
    def of(cls, evidence: AttributeEvidence, reference: Reference, measure: Measure) -> Self:
        """Return the reference, as fine as the measure needs it."""
        freedom = max(occupied(reference.joint, None)[0] - 1, 0)
        if measure.weighs_values and evidence.joint is None and evidence.histogram is not None:
            reference = _refined(reference, evidence.histogram)
        label = evidence.label_counts if evidence.knows_label else reference.joint.sum(axis=0)
        return cls(reference, label / max(float(label.sum()), 1.0), freedom, measure.is_steep)

    @property
    def table(self) -> FloatArray:
        """(atoms, labels) counts."""
        return self.reference.joint

    @cached_property
    def roots(self) -> FloatArray:
        """(labels,) the square roots of the shares."""
        return np.sqrt(self.shares)

    @cached_property
    def label_freedom(self) -> int:
        """The number of labels with records, minus one."""
        return max(int(np.count_nonzero(self.shares)) - 1, 0)

    def place(self, mapping: IntArray) -> IntArray:
        """The masked value (atoms,) of each atom."""
        return per_atom(mapping, self.reference.atom_of_value, self.table.shape[0])


@dataclass(frozen=True, slots=True, eq=False)
class Influence:
    """The influence of the sample on one utility, which varies like a mean of `moves` over the records.

    Attributes:
        moves: (groups, labels) the gradient with respect to counts, times the root of N. Its variance over the records
            is the variance of the utility, in the measure's unit, squared. In an empty cell, it is that of one record
            there.
        held: (groups, labels) whether a cell has records.
        means: (labels,) the mean of the moves among the records of each label.
        spreads: (labels,) their standard deviation there.
        freedom: the number of rows with records, minus one.
        scale: the scale of the second-order variation (`Measure.second_order`).
        noise: the share, from 0 to 1, of the gradient's own sampling noise that can be removed from its variance.
        inexact: the standard deviation of the utility due to declared inexact counts (noise, rounding, records left
            out), as if their errors were independent; for a fit to several views it is less.
        once: the variance of each count of an atom if maskings sum the same rounded counts, over N; 0 if not.
        beyond: the part of `inexact` that is not due to the moves of such counts.
        group_of_atom: (atoms,) the row of each atom of the sample in the table; None if unknown.
        bias: the expected excess over the utility of the population, due to chance and inexact counts.
        chance: the part of the bias that is due to chance (`Measure.sampling_bias`).
        tangent: for a root, the value at which its slope is taken (`Measure.tangent`).
        centre: the utility less its bias, if there is a tangent.
    """

    moves: FloatArray
    held: BoolArray
    means: FloatArray
    spreads: FloatArray
    freedom: int
    scale: float
    noise: float
    group_of_atom: IntArray | None
    bias: float = 0.0
    chance: float = 0.0
    tangent: float | None = None
    centre: float = 0.0
    inexact: float = 0.0
    once: float = 0.0
    beyond: float = 0.0

    @classmethod
    def of(
        cls,
        measure: Measure,
        table: FloatArray,
        group_of_atom: IntArray | None,
        atoms: AtomStatistics | None = None,
        likely: LikelyTables | None = None,
        reach: FloatArray | float = 0.0,
    ) -> Self:
        """Return the influence of the records of a counted table (groups, labels) on its measure.

        If the counts were rounded, `likely` are the likely true tables. If they were fitted, `reach` is their error:
        slopes are taken at counts of at least this size, since a logarithm's slope is unbounded at 0.
        """
        held, perhaps = table > 0, np.zeros(table.shape)
        reached = np.maximum(table, reach) if measure.is_steep else table
        moves = measure.gradient_of(reached, atoms, likely)
        if measure.is_steep and not held.all():
            perhaps = records_by_chance(table)
            moves = np.where(held, moves, measure.gradient(table + perhaps, atoms))
        moves = moves * np.sqrt(table.sum())
        scale = measure.second_order(table, atoms)
        rows, labels = occupied(table, None)
        noise = _noise(table, rows, labels, ENOUGH if measure.is_steep else 0.0)
        bias = chance = measure.sampling_bias(table, atoms) if likely is None else measure.likely_bias(likely, atoms)
        utility = measure(table, atoms) if likely is None else measure.without_rounding(table, atoms, likely)
        if likely is not None:
            bias += measure.less_rounding(table, atoms, likely) - utility
        return cls(
            moves,
            held,
            *moments(table, moves, perhaps),
            max(rows - 1, 0),
            scale,
            noise,
            group_of_atom,
            bias,
            chance,
            inexact=0.0 if likely is None else measure.rounding_error(table, atoms, likely),
            tangent=measure.tangent(table, atoms),
            centre=max(0.0, utility - chance),
        )

    @classmethod
    def of_fitted(
        cls,
        measure: Measure,
        table: FloatArray,
        group_of_atom: IntArray | None,
        variance: FloatArray | float,
        noise: float,
        atoms: AtomStatistics | None = None,
    ) -> Self:
        """Return the influence on the measure of a table fitted to counts with these variances, `noise` by errors.

        The contribution of errors is in the bias. A fit varies less by chance than counts do; how much less is unknown.
        """
        one, utility = cls.of(measure, table, group_of_atom, atoms, reach=np.sqrt(variance)), measure(table, atoms)
        left = measure.without_noise(utility - one.bias, table, noise, atoms)
        return replace(one, noise=0.0, bias=utility - left, centre=max(0.0, left))

    def with_variance(self, variance: FloatArray | float, records: int) -> "Influence":
        """Add these variances of counts, (groups, labels) or one for all."""
        moved = float(np.sum(np.where(self.held, self.moves, 0.0) ** 2 * variance)) / max(records, 1)
        return replace(self, inexact=float(np.sqrt(self.inexact**2 + moved)))


def _noise(table: FloatArray, rows: int, labels: int, enough: float) -> float:
    """The number of cells with records beyond the free ones under independence, over the degrees of freedom.

    A cell that cannot have records adds no noise. A cell that is empty only by chance cannot be distinguished from such
    a cell. The noise of a cell with an expected count below `enough` is unknown.
    """
    cells = int(np.count_nonzero((table > 0) & (_expected(table) >= enough))) - rows - labels + 1
    return max(cells, 0) / ((rows - 1) * (labels - 1)) if min(rows, labels) > 1 else 1.0


def moments(table: FloatArray, moves: FloatArray, perhaps: FloatArray | float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation (labels,) of moves (rows, labels), among the counted records of each label.

    Possible records in empty cells, `perhaps` (rows, labels), add to the deviation.
    """
    columns = table.sum(axis=0)
    means = ratio(np.sum(table * moves, axis=0), columns)
    return means, np.sqrt(ratio(np.sum((table + perhaps) * (moves - means) ** 2, axis=0), columns))


def records_by_chance(table: FloatArray) -> FloatArray:
    """(rows, labels) The records of an empty cell in another sample: 1, or the expected count if lower.

    A cell with an expectation of 1 is empty in 37 % of samples, which do not show its variance.
    """
    return np.where(table > 0, 0.0, np.minimum(_expected(table), 1.0))


def _expected(table: FloatArray) -> FloatArray:
    """(rows, labels) The expected counts under independence."""
    return np.outer(table.sum(axis=1), table.sum(axis=0)) / max(float(table.sum()), 1.0)


def influences(
    evidence: AttributeEvidence, sample: Sample, measure: Measure, used: Collection[str], whole: float
) -> Mapping[str, Influence]:
    """The influence on the utility of each masking `used` (ids, possibly with `identity` and `drop`).

    `identity` is always included. Its influence is that on the reference utility `whole`, which is the utility of the
    reference or of an exact view with more utility. The reference is treated like a counted table. This is right for
    mutual information. For other measures the result is not too small if the reference is near the truth, since a fit
    varies only where its margins do.
    """
    masked = {used_id: _influence(evidence, sample, measure, used_id) for used_id in used if used_id != IDENTITY}
    every = {**masked, IDENTITY: _reference_influence(evidence, sample, measure, whole)}
    if evidence.rounded_once is None:
        once = _once(evidence, sample)
        return {used_id: replace(one, once=once if one.inexact else 0.0) for used_id, one in every.items()}
    # (groups, 1), or (1, 1) if all are equal: the variances of counts that were rounded once
    of_one = evidence.rounding.count_variance
    variances = {name: variance[:, np.newaxis] for name, variance in sum_variances(evidence).items()}
    variances |= {IDENTITY: np.full((1, 1), of_one), DROP: np.full((1, 1), of_one)}
    once = of_one / max(evidence.records, 1)
    return {
        used_id: replace(one.with_variance(variances[used_id], evidence.records), once=once, beyond=one.inexact)
        if used_id in variances
        else one
        for used_id, one in every.items()
    }


def _influence(evidence: AttributeEvidence, sample: Sample, measure: Measure, used_id: str) -> Influence:
    table, source = masking_table(evidence, sample.reference, used_id)
    if used_id == DROP:
        return Influence.of(measure, table, np.zeros(sample.table.shape[0], dtype=np.int64))
    masking = evidence.masking(used_id)
    place = None if masking.mapping is None else sample.place(masking.mapping)
    if source != "fitted" or masking.joint is None:
        return Influence.of(measure, table, place, likely=likely_tables(evidence, used_id, table))
    _, variance = masking.perturbation.restored(masking.joint, evidence.label_counts)
    fitted = Influence.of_fitted(measure, table, place, variance, masking.perturbation.count_variance)
    return fitted.with_variance(variance, evidence.records)


def _once(evidence: AttributeEvidence, sample: Sample) -> float:
    """The variance of each count of an atom over N, if a view with inexact counts separates all atoms; 0 otherwise.

    All maskings with inexact counts then sum the same fitted ones, which are at least as certain as those of the view.
    """
    variances = [
        float(masking.perturbation.restored(masking.joint, evidence.label_counts)[1].max(initial=0.0))
        for masking in evidence.maskings
        if masking.is_fitted and masking.joint is not None and _separates(sample, masking)
    ]
    return min(variances, default=0.0) / max(evidence.records, 1)


def _separates(sample: Sample, masking: Masking) -> bool:
    """Whether a masking is known to separate all atoms."""
    return masking.mapping is not None and np.unique(sample.place(masking.mapping)).size == sample.table.shape[0]


def _reference_influence(evidence: AttributeEvidence, sample: Sample, measure: Measure, whole: float) -> Influence:
    reference = sample.reference
    if evidence.rounded_once is not None or measure(reference.joint, reference.statistics) != whole:
        for masking in evidence.maskings:
            table = exact_counts(evidence, masking)
            if table is None or measured(evidence, measure, masking.id, counts := table.astype(np.float64)) != whole:
                continue
            place = None if masking.mapping is None else sample.place(masking.mapping)
            return Influence.of(measure, counts, place, likely=likely_tables(evidence, masking.id, counts))
    atoms = np.arange(sample.table.shape[0])
    variance = min((each.perturbation.count_variance for each in evidence.maskings if each.is_fitted), default=0.0)
    known = evidence.joint is not None or any(
        each.constrains and _separates(sample, each) for each in evidence.maskings
    )
    if variance > 0 and not known:
        fitted = Influence.of_fitted(measure, reference.joint, atoms, variance, variance, reference.statistics)
        return replace(fitted, freedom=sample.freedom).with_variance(variance, evidence.records)
    likely = likely_tables(evidence, REFERENCE, reference.joint)
    influence = Influence.of(measure, reference.joint, atoms, reference.statistics, likely)
    # A fit varies less by chance than counts do; how much less is unknown.
    return influence if evidence.joint is not None else replace(influence, freedom=sample.freedom, noise=0.0)


def _refined(reference: Reference, histogram: IntArray) -> Reference:
    """Split the atoms of a reference (variant I) into sets of values with equal counts, which do not differ at all."""
    atom_of_value, atoms = reference.atom_of_value, reference.joint.shape[0]
    distinct, rank = np.unique(histogram, return_inverse=True)
    keys = atom_of_value.astype(np.int64) * distinct.size + rank
    _, first, class_of_value = np.unique(keys, return_index=True, return_inverse=True)
    refined = class_of_value.astype(np.int32)
    statistics = AtomStatistics.counted(refined, first.size, histogram)
    counts = histogram.astype(np.float64)
    records, held = fold(counts, atom_of_value, atoms), fold(counts, refined, first.size)
    parent = atom_of_value[first]
    joint = reference.joint[parent] * ratio(held, records[parent])[:, np.newaxis]
    return replace(reference, atom_of_value=refined, joint=joint, statistics=statistics)
