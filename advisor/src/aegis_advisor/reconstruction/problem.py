"""The problem: the table of least information that fits every margin that is known."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from aegis_advisor.arrays import AtomArray, BoolArray, FloatArray, fold
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.reconstruction.margin import Margin
from aegis_advisor.reconstruction.views import label_margin, view_margins

__all__ = ["Margin", "Problem"]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Minimise KL(F || prior) over tables F (atoms, labels) with these margins.

    Attributes:
        prior: (atoms,) the weight of each atom before any counts are seen: its records in variant I, in proportion to
            the number of its values in variant II; it spreads evenly over the labels.
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
    def of(
        cls, evidence: AttributeEvidence, atom_of_value: AtomArray, atoms: int, estimate: FloatArray | None = None
    ) -> Self:
        """The problem of an attribute: its histogram, its label's histogram and all counts that speak of its atoms.

        `estimate` (atoms, labels) is what is thought of the table already; without, that it is independence.
        """
        label = evidence.label_counts[np.newaxis, :].astype(np.float64)
        counts, rows = evidence.value_counts, None
        if counts is not None:
            rows = fold(counts, atom_of_value, atoms).astype(np.float64)
        prior = np.bincount(atom_of_value, minlength=atoms).astype(np.float64) if rows is None else rows
        if estimate is None:
            estimate = prior[:, np.newaxis] / max(float(prior.sum()), 1.0) * label
        margins = label_margin(evidence, atoms), *view_margins(evidence, atom_of_value, estimate)
        if rows is None and not margins[0].is_exact:  # nothing else makes the prior a table of as many records
            prior *= evidence.records / prior.sum()
        return cls(prior, rows, margins, evidence.labels, float(evidence.records))

    @property
    def is_exact(self) -> bool:
        """Whether every margin is to be met to the last record."""
        return all(margin.is_exact for margin in self.margins)

    def start(self) -> FloatArray:
        """The table (atoms, labels) of the prior."""
        return np.repeat(self.prior[:, np.newaxis] / self.labels, self.labels, axis=1)

    def allowed(self) -> BoolArray:
        """Which cells (atoms, labels) no exact count of 0 forbids."""
        allowed = np.repeat(self.prior[:, np.newaxis] > 0, self.labels, axis=1)
        for margin in self.margins:
            if margin.is_exact:
                allowed[margin.atoms] &= margin.counts[margin.group_of] > 0
        return allowed

    def residual(self, table: FloatArray) -> float:
        """The largest absolute difference of an exact margin of `table` (atoms, labels), over the records."""
        gaps = [margin.residual(table) for margin in self.margins]
        if self.rows is not None:
            gaps.append(float(np.abs(table.sum(axis=1) - self.rows).max(initial=0.0)))
        return max(gaps) / max(self.records, 1.0)
