"""How far from the truth one gets without seeing a record: total variation distances, where the table is given."""

from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import AtomArray, FloatArray, IntArray, fold
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.reconstruction import reconstruct
from aegis_provider.counting.counts import JointCounts
from aegis_provider.disclosure.model import Comparison, Distance

_ROUNDING = 1e-12
"""Sums of shares are known to that."""


@dataclass(frozen=True, eq=False)
class Guess:
    """A guess at the shares of the records in every cell of an attribute's table.

    `atom_of_value`: (values,). `shares`: (atoms, labels), adding up to 1. `within`: (values,) the part that a value has
    of its atom, whatever the label.
    """

    atom_of_value: AtomArray
    shares: FloatArray
    within: FloatArray

    def distance(self, truth: JointCounts) -> Distance:
        """How far it is from the truth, which has one record at least."""
        true = truth.fold(self.atom_of_value, self.shares.shape[0])
        atoms = float(np.abs(self.shares - true / true.sum()).sum())
        return Distance(_half(atoms), _half(self._difference_of_values(truth)))

    def _difference_of_values(self, truth: JointCounts) -> float:
        """The sum of absolute differences, by the cells that have records: all others have the rest of the guess."""
        guessed = self.shares[self.atom_of_value[truth.values], truth.labels] * self.within[truth.values]
        off = np.abs(guessed - truth.counts / truth.counts.sum()).sum()
        return float(off + max(0.0, 1.0 - guessed.sum()))


def compare(evidence: AttributeEvidence, truth: JointCounts) -> Comparison:
    """The distance of the pooled reconstruction from the truth, and that of what the margins alone say."""
    reference = reconstruct(evidence)
    atom_of_value, atoms = reference.atom_of_value, reference.joint.shape[0]
    weights = _weights(evidence)
    per_atom = fold(weights, atom_of_value, atoms)
    within = np.divide(weights, per_atom[atom_of_value], out=np.zeros(weights.shape), where=weights > 0)
    independent = np.outer(per_atom, _shares(evidence.label_histogram.astype(np.float64)))
    return Comparison(
        pooled=Guess(atom_of_value, _shares(reference.joint), within).distance(truth),
        margins=Guess(atom_of_value, independent, within).distance(truth),
        converged=reference.certificate.converged,
    )


def _weights(evidence: AttributeEvidence) -> FloatArray:
    """(values,) the share that each value has of the records: by the histogram, all the same where there is none."""
    counts: IntArray | None = evidence.value_counts
    return _shares(np.ones(evidence.values) if counts is None else counts.astype(np.float64))


def _shares(counts: FloatArray) -> FloatArray:
    """The counts over their sum, which noise may have taken to 0: then all the same."""
    total = float(counts.sum())
    return counts / total if total > 0 else np.full(counts.shape, 1.0 / counts.size)


def _half(differences: float) -> float:
    """The distance that a sum of absolute differences makes; 0 where only rounding tells it from that."""
    return differences / 2 if differences > _ROUNDING else 0.0
