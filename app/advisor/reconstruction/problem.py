"""The problem: the table of least information that fits every margin that is known."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from app.advisor.arrays import AtomArray, FloatArray, IntArray, fold
from app.advisor.atoms import per_atom
from app.advisor.evidence import AttributeEvidence


@dataclass(frozen=True, slots=True, eq=False)
class Margin:
    """Sums over some atoms that are known: those of a masked view, or some of its groups.

    Attributes:
        atoms: (members,) the atoms that it speaks of.
        group_of: (members,) the group of each of them, below the number of groups.
        counts: (groups, labels) what the atoms of a group add up to.
        share: (members,) how much of an atom's records is in the group, where the masking draws the group by
            chance: the entries of its transition matrix; an atom then is a member of several groups. None: all.
        variance: (groups, labels) the variance of each count, 0 where it is exact; None: all are exact.
    """

    atoms: IntArray
    group_of: IntArray
    counts: FloatArray
    share: FloatArray | None = None
    variance: FloatArray | None = None

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.counts.shape[0])

    def of(self, table: FloatArray) -> FloatArray:
        """These sums (groups, labels) of a table (atoms, labels)."""
        held = table[self.atoms]
        return fold(held if self.share is None else held * self.share[:, np.newaxis], self.group_of, self.groups)

    @property
    def is_exact(self) -> bool:
        """Whether it is met to the last record: it adds up whole atoms, and no count of it is uncertain."""
        return self.share is None and self.variance is None


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Minimise KL(F || prior) over tables F (atoms, labels) with these margins.

    Attributes:
        prior: (atoms,) the weight of each atom before any counts are seen: its records in variant I, the
            number of its values in variant II; it spreads evenly over the labels.
        rows: (atoms,) the records of each atom (variant I), or None (variant II).
        margins: what else is known.
        labels: the number of label values.
        records: the number of records in the whole table, which residuals are relative to.
    """

    prior: FloatArray
    rows: FloatArray | None
    margins: tuple[Margin, ...]
    labels: int
    records: float

    @classmethod
    def of(cls, evidence: AttributeEvidence, atom_of_value: AtomArray, atoms: int) -> Self:
        """The problem of an attribute: its histogram, its label's histogram and all its mapped counts."""
        everything = np.arange(atoms)
        label = evidence.label_histogram[np.newaxis, :].astype(np.float64)
        margins = [Margin(everything, np.zeros(atoms, dtype=np.int64), label)]
        for masking in evidence.maskings:
            if masking.mapping is not None and masking.joint is not None:
                group_of = per_atom(masking.mapping, atom_of_value, atoms)
                margins.append(Margin(everything, group_of, masking.joint.astype(np.float64)))
        counts, rows = evidence.value_counts, None
        if counts is not None:
            rows = fold(counts, atom_of_value, atoms).astype(np.float64)
        prior = np.bincount(atom_of_value, minlength=atoms).astype(np.float64) if rows is None else rows
        return cls(prior, rows, tuple(margins), evidence.labels, float(evidence.records))

    def start(self) -> FloatArray:
        """The table (atoms, labels) of the prior."""
        return np.repeat(self.prior[:, np.newaxis] / self.labels, self.labels, axis=1)

    def residual(self, table: FloatArray) -> float:
        """The largest absolute difference of a margin of `table` (atoms, labels), over the records."""
        gaps = [np.abs(margin.of(table) - margin.counts).max(initial=0.0) for margin in self.margins]
        if self.rows is not None:
            gaps.append(np.abs(table.sum(axis=1) - self.rows).max(initial=0.0))
        return float(max(gaps)) / max(self.records, 1.0)
