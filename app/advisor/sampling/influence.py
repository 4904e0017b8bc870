"""How the utility of each masking of an attribute moves with the sample."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from app.advisor.arrays import FloatArray, IntArray, fold
from app.advisor.atoms import AtomStatistics, per_atom
from app.advisor.deviation import DROP, IDENTITY, masked_table, masking_named
from app.advisor.evidence import AttributeEvidence
from app.advisor.measures import Measure
from app.advisor.measures.margins import occupied, ratio
from app.advisor.reconstruction import Reference
from app.advisor.views import determined_counts


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The table of an attribute on which its maskings are compared with each other.

    Attributes:
        reference: its rows are atoms; or, for a measure whose gradient differs between the values of an atom, values
            of an atom that have equal counts.
        shares: (labels,) of the records.
    """

    reference: Reference
    shares: FloatArray

    @classmethod
    def of(cls, evidence: AttributeEvidence, reference: Reference, measure: Measure) -> Self:
        """The reference, as fine as the measure asks."""
        if measure.weighs_values and evidence.joint is None and evidence.histogram is not None:
            reference = _refined(reference, evidence.histogram)
        return cls(reference, evidence.label_histogram / max(evidence.records, 1))

    @property
    def table(self) -> FloatArray:
        """(atoms, labels) counts."""
        return self.reference.joint

    def place(self, mapping: IntArray) -> IntArray:
        """The masked value (atoms,) of each atom."""
        return per_atom(mapping, self.reference.atom_of_value, self.table.shape[0])


@dataclass(frozen=True, slots=True, eq=False)
class Influence:
    """How one utility moves with the sample: as a mean of `moves` over the records does.

    Attributes:
        moves: (groups, labels) the gradient by counts times the root of N: its variance over the records is the
            variance of the utility, in the measure's unit, squared.
        means: (labels,) of the moves among the records of each label.
        spreads: (labels,) their standard deviation there.
        freedom: the values that have records, less one.
        scale: of what the gradient does not tell (`Measure.second_order`).
        group_of_atom: (atoms,) where the atoms of the sample are in the table; None if it is not known.
    """

    moves: FloatArray
    means: FloatArray
    spreads: FloatArray
    freedom: int
    scale: float
    group_of_atom: IntArray | None

    @classmethod
    def of(
        cls, measure: Measure, table: FloatArray, group_of_atom: IntArray | None, atoms: AtomStatistics | None = None
    ) -> Self:
        """The influence of the records of a table (groups, labels) on its measure."""
        moves = measure.gradient(table, atoms) * np.sqrt(table.sum())
        freedom = max(occupied(table, atoms)[0] - 1, 0)
        return cls(moves, *moments(table, moves), freedom, measure.second_order(table, atoms), group_of_atom)


def moments(table: FloatArray, moves: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation, (labels,) each, of moves (rows, labels) among the counted records of each label."""
    columns = table.sum(axis=0)
    means = ratio(np.sum(table * moves, axis=0), columns)
    return means, np.sqrt(ratio(np.sum(table * (moves - means) ** 2, axis=0), columns))


def influences(
    evidence: AttributeEvidence, sample: Sample, measure: Measure, used: Collection[str]
) -> Mapping[str, Influence]:
    """The influence on the utility of each masking `used` (ids, `identity` and `drop` among them).

    That of `identity` is always there: the influence on the reference utility, which is the reference's, or that of
    the view that has more. For the reference it is that of a table as if it had been counted, which for mutual
    information is right, and for other measures not too small as long as the reference is near the truth: of a fit
    only the part that its margins show can move.
    """
    found = {used_id: _influence(evidence, sample, measure, used_id) for used_id in used if used_id != IDENTITY}
    return {**found, IDENTITY: _reference_influence(evidence, sample, measure)}


def _influence(evidence: AttributeEvidence, sample: Sample, measure: Measure, used_id: str) -> Influence:
    table, _ = masked_table(evidence, sample.reference, used_id)
    if used_id == DROP:
        return Influence.of(measure, table, np.zeros(sample.table.shape[0], dtype=np.int64))
    mapping = masking_named(evidence, used_id).mapping
    return Influence.of(measure, table, None if mapping is None else sample.place(mapping))


def _reference_influence(evidence: AttributeEvidence, sample: Sample, measure: Measure) -> Influence:
    reference = sample.reference
    tables = (
        [] if evidence.joint is not None else [(one, determined_counts(evidence, one)) for one in evidence.maskings]
    )
    exact = [(masking, table.astype(np.float64)) for masking, table in tables if table is not None]
    utilities = [measure(reference.joint, reference.statistics), *(measure(table) for _, table in exact)]
    best = utilities.index(measure.best(utilities))
    if best == 0:
        own = np.arange(sample.table.shape[0])
        return Influence.of(measure, reference.joint, own, reference.statistics)
    masking, table = exact[best - 1]
    return Influence.of(measure, table, None if masking.mapping is None else sample.place(masking.mapping))


def _refined(reference: Reference, histogram: IntArray) -> Reference:
    """The reference (variant I) with atoms cut into values of equal counts, which are alike in every respect."""
    atom_of_value, atoms = reference.atom_of_value, reference.joint.shape[0]
    keys, first, class_of_value = np.unique(
        np.stack([atom_of_value, histogram]), axis=1, return_index=True, return_inverse=True
    )
    refined = class_of_value.ravel().astype(np.int32)
    statistics = AtomStatistics.counted(refined, keys.shape[1], histogram)
    counts = histogram.astype(np.float64)
    records, held = fold(counts, atom_of_value, atoms), fold(counts, refined, keys.shape[1])
    parent = atom_of_value[first]
    joint = reference.joint[parent] * ratio(held, records[parent])[:, np.newaxis]
    return replace(reference, atom_of_value=refined, joint=joint, statistics=statistics)
