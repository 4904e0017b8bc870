"""What is known about an attribute: sizes, histograms and masked views.

Counts that follow from other counts by folding.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray, fold
from aegis_advisor.evidence.known_sums import KnownSums, View
from aegis_advisor.evidence.perturbation import UNPERTURBED, Perturbation

IDENTITY = "identity"
"""The masking that leaves an attribute unchanged."""

DROP = "drop"
"""The masking that does not share an attribute."""

Knowledge = Literal["joint", "histogram", "no_histogram"]


@dataclass(frozen=True, slots=True)
class MaskingFlags:
    """Which parts of a masking are known, without the parts themselves.

    Attributes:
        occupied: the number of masked values with records; 0 without counts.
        mapped: whether its mapping is known.
        counted: whether its counts are known.
        deterministic: whether it is a function of the value.
        perturbed: whether its counts are declared to differ from those of the table.
        drawn: whether its transition matrix is known and its rows differ.
    """

    occupied: int
    mapped: bool
    counted: bool
    deterministic: bool
    perturbed: bool = False
    drawn: bool = False

    @property
    def exact(self) -> bool:
        """Whether its counts are those of a function of the value, so that the data-processing inequality holds."""
        return self.counted and not self.perturbed and (self.mapped or self.deterministic)

    @property
    def constrains(self) -> bool:
        """Whether its counts are margins of the attribute's table: exact, and with a known mapping."""
        return self.mapped and self.counted and not self.perturbed

    @property
    def informs(self) -> bool:
        """Whether its counts carry information about the attribute's association with the label."""
        return self.occupied > 1 and (self.exact or (self.counted and (self.mapped or self.drawn)))


@dataclass(frozen=True, slots=True)
class EvidenceFlags:
    """Which parts of an attribute's evidence are known; cheap to check before any counts are loaded.

    Attributes:
        values: the number of values with records; without a histogram, of all values.
        labels: the number of label values with records.
        has_joint: whether the unmasked counts are known.
        maskings: which parts of each masking are known.
    """

    values: int
    labels: int
    has_joint: bool
    maskings: tuple[MaskingFlags, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Masking:
    """A masking function of an attribute: a view of the unknown table, or only its mapping.

    Attributes:
        id: its name within the attribute.
        groups: the number of masked values.
        mapping: (values,) the masked value of each value, below `groups`; None if it is not known.
        joint: (groups, labels) int64 counts of masked value and label; None if they are not known.
        deterministic: whether it is a function of the value. A masking with a mapping is.
        perturbation: how the counts are declared to differ from those of the table.
        transition: (values, groups) float64, the probability of each masked value given the value, for a random
            masking (randomised response, PRAM); None if it is not known, or if there is a mapping.
        label_mapping: (labels,) the masked label of each label, if `joint` counts masked labels; None if it does not.
    """

    id: str
    groups: int
    mapping: IntArray | None
    joint: IntArray | None
    deterministic: bool
    perturbation: Perturbation = UNPERTURBED
    transition: FloatArray | None = None
    label_mapping: IntArray | None = None

    @property
    def flags(self) -> MaskingFlags:
        """Which parts of the masking are known."""
        occupied = 0 if self.joint is None else int(np.count_nonzero(self.joint.any(axis=1)))
        known = self.mapping is not None, self.joint is not None, self.deterministic
        drawn = self.transition is not None and bool((self.transition != self.transition[:1]).any())
        return MaskingFlags(occupied, *known, not self.perturbation.is_none, drawn)

    @property
    def exact(self) -> bool:
        """Whether its counts are those of a function of the value.

        Then its utility is exact and, by a monotone measure, no better than the attribute's.
        """
        is_function = self.mapping is not None or self.deterministic
        return self.joint is not None and is_function and self.perturbation.is_none

    @property
    def constrains(self) -> bool:
        """Whether its mapping and exact counts are known, so that the counts are margins of the attribute's table."""
        return self.mapping is not None and self.joint is not None and self.perturbation.is_none

    @property
    def is_traceable(self) -> bool:
        """Whether its counts can be traced to values, by a mapping or by the probabilities of a transition matrix."""
        return self.joint is not None and (self.mapping is not None or self.transition is not None)

    @property
    def is_fitted(self) -> bool:
        """Whether its counts are inexact, so that its table is estimated by a fit."""
        return self.joint is not None and not self.perturbation.is_none

    @property
    def partition(self) -> IntArray | None:
        """(values,) the class of each value; the masking treats the values of a class alike. None if unknown."""
        if self.transition is not None:
            classes: IntArray = np.unique(self.transition, axis=0, return_inverse=True)[1].reshape(-1)
            return classes
        return self.mapping


@dataclass(frozen=True, eq=False)
class AttributeEvidence:
    """All that is known about one attribute and the label.

    Attributes:
        values: the size of its domain.
        label_histogram: (labels,) int64, as published.
        histogram: (values,) int64 counts of the values; None in variant II of the problem.
        joint: (values, labels) int64, the unmasked counts; None unless the provider gives them.
        maskings: its masking functions, in the provider's order.
        label_perturbation: how the label's histogram is declared to differ from that of the table.
        rounded_once: the base to which the counts of values and label values were rounded once; all counts without a
            declaration are sums of these. They are consistent, but not those of the provider's table. None if they are.
        once_within: each of these counts is off by less than this many bases.
        label_scores: (labels,) float64, the score of each class of the label, in its unit; None if there are none.
        blocks: counted tables of a masking and a masked label, with the mappings of both.
    """

    name: str
    values: int
    label_histogram: IntArray
    histogram: IntArray | None
    joint: IntArray | None
    maskings: tuple[Masking, ...]
    label_perturbation: Perturbation = UNPERTURBED
    rounded_once: int | None = None
    once_within: int = 1
    label_scores: FloatArray | None = None
    blocks: tuple[Masking, ...] = ()

    @property
    def rounding(self) -> Perturbation:
        """How each count without a declaration differs from that of the provider's table."""
        return Perturbation(rounded_to=self.rounded_once)

    def count_variance(self, masking_id: str) -> float:
        """The variance of each count of a masking with the label, from its declarations."""
        declared = self.rounding if masking_id == IDENTITY else self.masking(masking_id).perturbation
        return (self.rounding if declared.is_none else declared).count_variance

    @property
    def records(self) -> int:
        """The number of records; an estimate if `knows_label` is false."""
        return int(self.label_counts.sum())

    @property
    def exact_tables(self) -> list[IntArray]:
        """The exact tables of counts (groups, labels); the columns of each add up to the true label histogram."""
        masked = [masking.joint for masking in self.maskings if masking.perturbation.is_none]
        return [table for table in (self.joint, *masked) if table is not None]

    @property
    def label_slack(self) -> tuple[int, int]:
        """The most by which a count of the label's histogram, and its total, may differ from those of the table."""
        sums = self.labels + 1
        return self.label_perturbation.slack(1, sums), self.label_perturbation.slack(self.labels, sums)

    def sum_slack(self, declared: Perturbation) -> tuple[int, int]:
        """The largest error of the label's counts, and of their total, relative to a table with this declaration.

        Where counts were rounded once, tables with declarations were rounded separately, so their sums differ.
        """
        column, whole = self.label_slack
        if declared.is_none:
            return column, whole
        return column + self.rounding.slack(1, 1), whole + self.rounding.slack(self.labels, 1)

    @property
    def knows_label(self) -> bool:
        """Whether it is certain how many records each label value has."""
        return self.label_perturbation.is_none or bool(self.exact_tables)

    @property
    def label_counts(self) -> IntArray:
        """(labels,) the records of each label value: exact if `knows_label`, else the histogram as published."""
        if self.label_perturbation.is_none or not (exact := self.exact_tables):
            return self.label_histogram
        counts: IntArray = exact[0].sum(axis=0)
        return counts

    @property
    def labels(self) -> int:
        """The number of label values."""
        return int(self.label_histogram.size)

    @property
    def traceable(self) -> list[Masking]:
        """The maskings whose counts can be traced to values, in order."""
        return [masking for masking in self.maskings if masking.is_traceable]

    @property
    def is_fitted(self) -> bool:
        """Whether the reference is fitted to inexact counts of a known one-to-one mapping."""
        views = [one.mapping for one in self.maskings if one.is_fitted and one.mapping is not None]
        return any(np.unique(mapping).size == self.values for mapping in views)

    @property
    def is_drawn(self) -> bool:
        """Whether a traceable masking is random."""
        return any(masking.transition is not None for masking in self.traceable)

    @cached_property
    def known_sums(self) -> KnownSums | None:
        """The sums that mapped views with exact counts determine jointly; None without any, or if they disagree."""
        views = [(one.mapping, one.joint) for one in self.maskings if one.perturbation.is_none]
        mapped = [(mapping, joint) for mapping, joint in views if mapping is not None and joint is not None]
        return KnownSums.of(mapped, self.histogram, self.values)

    @property
    def refined_views(self) -> tuple[View, ...]:
        """Mapping (values,) and counts of partitions that the exact views determine jointly but not singly."""
        several = sum(masking.constrains for masking in self.maskings) > 1
        return self.known_sums.refined_views if several and self.known_sums is not None else ()

    @property
    def partitions(self) -> list[IntArray]:
        """The known partitions (values,) of the domain by the maskings."""
        views = (*self.maskings, *self.blocks)
        return [partition for masking in views if (partition := masking.partition) is not None]

    @property
    def value_counts(self) -> IntArray | None:
        """(values,) the histogram, given or summed from the unmasked counts; None in variant II."""
        if self.histogram is None and self.joint is not None:
            counts: IntArray = self.joint.sum(axis=1)
            return counts
        return self.histogram

    @property
    def knowledge(self) -> Knowledge:
        """How much is known about the unmasked attribute."""
        if self.joint is not None:
            return "joint"
        return "no_histogram" if self.histogram is None else "histogram"

    @property
    def flags(self) -> EvidenceFlags:
        """Which parts of the evidence are known."""
        maskings = tuple(masking.flags for masking in self.maskings)
        counts = self.value_counts
        values = self.values if counts is None else int(np.count_nonzero(counts))
        labels = int(np.count_nonzero(self.label_counts)) if self.knows_label else self.labels
        return EvidenceFlags(values, labels, self.joint is not None, maskings)

    def masking(self, masking_id: str) -> Masking:
        """Return the masking with this id.

        Raises:
            KeyError: the attribute has no such masking.
        """
        for masking in self.maskings:
            if masking.id == masking_id:
                return masking
        raise KeyError(masking_id)

    def groups_of(self, masking_id: str) -> int:
        """The number of masked values of a masking or the identity."""
        return self.values if masking_id == IDENTITY else self.masking(masking_id).groups

    def mapping_of(self, masking_id: str) -> IntArray | None:
        """The mapping (values,) of a masking or the identity; None if it is not known."""
        return np.arange(self.values) if masking_id == IDENTITY else self.masking(masking_id).mapping


def exact_counts(evidence: AttributeEvidence, masking: Masking) -> IntArray | None:
    """The exact counts (groups, labels) of a deterministic masking; None if they are not certain.

    They are certain in four cases: they are published; the unmasked counts are published; every group is a union of
    groups of one counted, mapped view (possibly of different views for different groups); or the counted, mapped views
    determine them together (`KnownSums`). In the last two cases they are sums and differences of published counts,
    however well the reconstruction has converged. Counts of a masking that is not a function of the value are not those
    of a view, and never certain in this sense. Counts with noise, rounding or left-out records are not used.
    """
    if masking.exact:
        return masking.joint
    if masking.mapping is None:
        return None
    if evidence.joint is not None:
        return fold(evidence.joint, masking.mapping, masking.groups)
    united = _united_counts(evidence, masking.mapping, masking.groups)
    if united is not None or evidence.known_sums is None:
        return united
    return evidence.known_sums.counts_of(masking.mapping, masking.groups)


def masked_records(evidence: AttributeEvidence, masking: str) -> IntArray | None:
    """(groups,) the records of each masked value by the attribute's own counts; None if unknown."""
    if masking == IDENTITY:
        return evidence.value_counts
    known = evidence.masking(masking)
    if known.joint is not None and known.perturbation.is_complete:
        records: IntArray = known.joint.sum(axis=1)
        return records
    if known.mapping is None or evidence.value_counts is None:
        return None
    return fold(evidence.value_counts[:, np.newaxis], known.mapping, known.groups)[:, 0]


def _united_counts(evidence: AttributeEvidence, mapping: IntArray, groups: int) -> IntArray | None:
    counts = np.zeros((groups, evidence.labels), dtype=np.int64)
    missing = np.bincount(mapping, minlength=groups) > 0
    for view in evidence.maskings:
        if not missing.any():
            break
        if view.mapping is None or view.joint is None or not view.exact:
            continue
        group_of, whole = _whole_groups(view.mapping, mapping, view.groups)
        splitting = np.zeros(groups, dtype=bool)
        splitting[mapping[~whole[view.mapping]]] = True
        united = fold(view.joint[whole], group_of[whole], groups)
        whole_here = missing & ~splitting
        counts[whole_here] = united[whole_here]
        missing &= splitting
    return None if missing.any() else counts


def _whole_groups(view: IntArray, mapping: IntArray, groups: int) -> tuple[IntArray, BoolArray]:
    """For each group (groups,) of a view: a group of `mapping` that shares values, and whether it contains all."""
    target = np.zeros(groups, dtype=np.int64)
    target[view] = mapping
    whole = np.bincount(view, minlength=groups) > 0
    whole[view[target[view] != mapping]] = False
    return target, whole
