"""Checks of published associations with the label, and of the unmasked trace, against bounds from the counts.

A noisy association has only faults that no plausible noise explains.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import prod
from typing import Self

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.errors import TooManyColumnsError
from aegis_advisor.evidence import IDENTITY, AttributeEvidence, PairAssociation, PairCounts, PublishedTrace
from aegis_advisor.evidence.checks import Fault
from aegis_advisor.evidence.perturbation import IMPLAUSIBLE, largest_noise
from aegis_advisor.joint.design import Design, known_label, label_counts
from aegis_advisor.joint.pair_tables import PairTables
from aegis_advisor.joint.trace import traces
from aegis_advisor.measures.association import mean_square_adjustment, mean_square_contingency
from aegis_advisor.measures.numbers import correlation_ratio, correlation_ratio_adjustment


def noisy_association_faults(
    index: int, one: PairAssociation, evidence: AttributeEvidence, sizes: tuple[int, int], pair: PairCounts | None
) -> Iterator[Fault]:
    """The faults of an association with declared noise.

    Noise is implausible beyond the bound that any of its numbers exceeds with probability at most `IMPLAUSIBLE`.

    Args:
        evidence: the attributes; any of them has the label's counts.
        pair: the pair counts of the two, noisy or not; None if they are not known.
    """
    noise = largest_noise(one.noise_scale or 0.0, 1, IMPLAUSIBLE / (evidence.labels + 1)) + 1
    least, most = _held(pair), sizes[0] * sizes[1]
    if not max(1, least - noise) <= one.combinations <= most + noise:
        detail = f"is {one.combinations}, but by the counts and the declared noise there are {least} to {most}"
        yield Fault((index, "with_label", "combinations"), f"{detail}, give or take {noise}")
    limit = _largest(evidence, noise)
    if one.chi_square > limit:
        detail = f"is {one.chi_square:.12g}, but with the declared noise it is at most {limit:.12g}"
        yield Fault((index, "with_label", "chi_square"), detail)


def _held(pair: PairCounts | None) -> int:
    """The number of combinations whose counts plausible noise cannot explain, so that they occur."""
    if pair is None:
        return 0
    return int(np.count_nonzero(pair.joint > pair.perturbation.slack(1, pair.joint.size)))


def _largest(evidence: AttributeEvidence, noise: int) -> float:
    """The largest chi-square that is plausible: each sum `S_j` is at most the records of label value `j`."""
    label, (each, _) = evidence.label_counts, evidence.label_slack
    held = label[label > 0].astype(np.float64)
    return float(held.sum()) * max(held.size - 1 + float(np.sum((noise + each) / held)), 0.0)


SLACK = 1e-9
"""A relative tolerance: chi-square is computed from counts by the provider, and the trace by us."""

MOST_FAULTS = 100
"""The most faults returned."""


def find_association_faults(
    evidence: Sequence[AttributeEvidence], pairs: Sequence[PairCounts], associations: Sequence[PairAssociation]
) -> tuple[Fault, ...]:
    """Find the first 100 associations that contradict the given counts; paths start at their list.

    With `N` records, Pillai's trace `V` of the two masked attributes and the number `q` of classes less one,

        N V <= chi_square <= N min(q, combinations - 1).

    If the pair counts are not known, `V` is at least the larger trace of the two attributes, and there are at least as
    many combinations as masked values of each. Where combinations with few records were merged before both
    numbers were rounded, there may be fewer, and only the upper limits hold. The evidence and the pairs must have no
    faults, and the attributes and maskings must exist.
    """
    return tuple(islice(_all_faults(evidence, pairs, associations), MOST_FAULTS))


def _all_faults(
    evidence: Sequence[AttributeEvidence], pairs: Sequence[PairCounts], associations: Sequence[PairAssociation]
) -> Iterator[Fault]:
    by_attributes: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    counts = {(pair.attributes, pair.maskings): pair for pair in pairs}
    inexact_pairs = {tuple(sorted(pair.attributes)) for pair in pairs if not pair.perturbation.is_none}
    for index, one in enumerate(associations):
        pair, both = counts.get((one.attributes, one.maskings)), tuple(sorted(one.attributes))
        inexact = [*_inexact_faults(evidence, index, one, pair)]
        yield from inexact
        if one.noise_scale is not None:
            yield from noisy_association_faults(index, one, evidence[0], _sizes(one, evidence), pair)
        elif one.rounded_to is not None or evidence[0].rounded_once or both in inexact_pairs:
            yield from [] if inexact else _rounded_faults(index, one, evidence)
        elif not inexact:
            by_attributes[both].append(index)
    label = next((known.label_counts for known in evidence if known.knows_label), None)
    for indices in by_attributes.values():
        group = [associations[index] for index in indices]
        for index, one, limits in zip(indices, group, _limits(evidence, pairs, group), strict=True):
            yield from limits.faults(index, one, label)


def _inexact_faults(
    evidence: Sequence[AttributeEvidence], index: int, one: PairAssociation, pair: PairCounts | None
) -> Iterator[Fault]:
    """Faults of exact associations that would disclose the inexact counts of a masking, label or pair."""
    if one.digits is not None or one.rounded_to is not None or one.noise_scale is not None:
        return
    if pair is not None and not pair.perturbation.is_none:
        detail = "the pair counts are declared inexact, but this is exact and would disclose what that hides"
        yield Fault((index, "with_label"), detail)
    if not evidence[0].label_perturbation.is_none:
        detail = "the label's counts are declared inexact, but this is exact and would disclose what that hides"
        yield Fault((index, "with_label"), detail)
    for side, (attribute, masking) in enumerate(zip(one.attributes, one.maskings, strict=True)):
        if masking != IDENTITY and not evidence[attribute].masking(masking).perturbation.is_none:
            detail = (
                f"the counts of {masking!r} are declared inexact (noise, rounded_to or records), but `with_label` is "
                "exact and would disclose what the declaration hides"
            )
            yield Fault((index, "maskings", side), detail)


@dataclass(frozen=True, slots=True)
class _AssociationLimits:
    """The limits of the association of two masked attributes with the label.

    Attributes:
        trace: a lower bound of Pillai's trace of the two.
        least, most: the limits of the number of combinations that occur; equal if it is known.
    """

    trace: float
    least: int
    most: int

    @classmethod
    def by_pair(cls, joint: IntArray, trace: float) -> Self:
        """The limits from pair counts, and the trace computed from these."""
        held = int(np.count_nonzero(joint))
        return cls(trace, held, held)

    @classmethod
    def by_each(cls, tables: Sequence[IntArray | None], joint: IntArray | None) -> Self:
        """The limits from the joint counts of each with the label and from pair counts, where these are known."""
        known = [table for table in tables if table is not None]
        alone = [mean_square_contingency(table.astype(np.float64), None) for table in known]
        if joint is not None:
            return cls.by_pair(joint, max(alone, default=0.0))
        held_by = [int(np.count_nonzero(table.any(axis=1))) for table in known]
        most = held_by[0] * held_by[1] if len(held_by) == len(tables) else np.iinfo(np.int64).max
        return cls(max(alone, default=0.0), max(held_by, default=1), most)

    def faults(self, index: int, one: PairAssociation, label: IntArray | None) -> Iterator[Fault]:
        """The faults of an association, given the records of each label value; None if these are uncertain."""
        most = self.most if label is None else min(self.most, int(label.sum()))
        few = one.combinations_off
        if not self.least - few <= one.combinations <= most + few:
            number = f"are {most}" if self.least == most else f"are {self.least} to {most}"
            yield Fault(
                (index, "with_label", "combinations"), f"is {one.combinations}, but by the counts there {number}"
            )
        elif label is not None:
            records, classes = int(label.sum()), int(np.count_nonzero(label)) - 1
            lower, upper = records * self.trace, records * min(classes, one.combinations + few - 1)
            slack = one.chi_square_off(label) + SLACK * max(one.chi_square, 1.0)
            if not lower - slack <= one.chi_square <= upper + slack:
                detail = f"is {one.chi_square:.12g}, but by the counts it lies between {lower:.12g} and {upper:.12g}"
                yield Fault((index, "with_label", "chi_square"), detail)


def _rounded_faults(index: int, one: PairAssociation, evidence: Sequence[AttributeEvidence]) -> Iterator[Fault]:
    """The faults of a rounded association, or one in an entry with inexact counts, beyond what these explain."""
    known, (_, whole) = evidence[0], evidence[0].label_slack
    records = int(known.label_counts.sum()) + whole + known.rounding.slack(known.labels, 1)
    few, most = one.combinations_off, min(records, prod(_sizes(one, evidence)))
    if one.combinations > most + few:
        detail = f"is {one.combinations}, but by the counts there are at most {most}, give or take {few:.12g}"
        yield Fault((index, "with_label", "combinations"), detail)
    limit = records * min(known.labels - 1, one.combinations + few - 1) + one.chi_square_off(known.label_counts)
    if one.chi_square > limit * (1 + SLACK):
        detail = f"is {one.chi_square:.12g}, but with at most {records} records it is at most {limit:.12g}"
        yield Fault((index, "with_label", "chi_square"), detail)


def _sizes(one: PairAssociation, evidence: Sequence[AttributeEvidence]) -> tuple[int, int]:
    """The number of masked values of each side."""
    (first, second), (masking, other) = one.attributes, one.maskings
    return evidence[first].groups_of(masking), evidence[second].groups_of(other)


def _limits(
    evidence: Sequence[AttributeEvidence], pairs: Sequence[PairCounts], group: Sequence[PairAssociation]
) -> list[_AssociationLimits]:
    """The limits of associations of the same two attributes."""
    both = sorted(group[0].attributes)
    two = [evidence[place] for place in both]
    of_both = [pair for pair in pairs if sorted(pair.attributes) == both]
    counts = [replace(pair, attributes=_renumbered(pair, both[0])) for pair in of_both]
    names = [one.maskings if one.attributes[0] == both[0] else one.maskings[::-1] for one in group]
    tables = PairTables.of(two, counts)
    joints = [tables.find(0, one, 1, other) for one, other in names]
    single = [[label_counts(known, name) for known, name in zip(two, each, strict=True)] for each in names]
    known = [
        joint is not None and all(table is not None for table in each)
        for joint, each in zip(joints, single, strict=True)
    ]
    together = iter(_traces(two, [each for each, is_known in zip(names, known, strict=True) if is_known], counts))
    return [
        _AssociationLimits.by_pair(joint, next(together))
        if is_known and joint is not None
        else _AssociationLimits.by_each(each, joint)
        for joint, each, is_known in zip(joints, single, known, strict=True)
    ]


def _renumbered(pair: PairCounts, first: int) -> tuple[int, int]:
    return (0, 1) if pair.attributes[0] == first else (1, 0)


def _traces(
    two: Sequence[AttributeEvidence], names: Sequence[tuple[str, str]], counts: Sequence[PairCounts]
) -> list[float]:
    """Pillai's trace of each two maskings; 0, which is always right, if they have too many dimensions."""
    if not names:
        return []
    options = [tuple(dict.fromkeys(each)) for each in zip(*names, strict=True)]
    codes = np.array([[options[side].index(name[side]) for side in (0, 1)] for name in names])
    try:
        design = Design.of(two, options, codes, counts)
    except TooManyColumnsError:
        return [0.0] * len(names)
    traced = traces(design, codes, known_label(two)).trace
    return [0.0 if np.isnan(trace) else float(trace) for trace in traced]


def largest_part(evidence: Sequence[AttributeEvidence]) -> float:
    """The largest adjusted trace of a single attribute or masking with exact counts; 0 if there are none.

    The adjustment can make the joint trace smaller than that of a part. A published trace is at least the largest part.
    """
    return max((_adjusted(table, one.label_scores) for one in evidence for table in _exact_tables(one)), default=0.0)


def find_trace_faults(evidence: Sequence[AttributeEvidence], published: PublishedTrace) -> Iterator[Fault]:
    """Yield a fault if no table with these counts has this trace; its path starts at the trace's object.

    Only single attributes are checked, which is fast: the trace of their exact counts must not exceed that of all
    attributes together, and this must not exceed the number of classes less one, or 1 if these have scores.
    """
    if published.most < largest_part(evidence) - SLACK:
        yield Fault(("value",), "Is less than the adjusted trace of a single attribute")
    most = min(_classes(one) for one in evidence)
    if published.least > most + SLACK:
        yield Fault(("value",), f"Exceeds {most}, the most of a label with these values")


def _exact_tables(evidence: AttributeEvidence) -> Iterator[IntArray]:
    if evidence.rounded_once is not None:
        return
    if evidence.joint is not None:
        yield evidence.joint
    for masking in evidence.maskings:
        if masking.exact and masking.joint is not None:
            yield masking.joint


def _adjusted(counts: IntArray, scores: FloatArray | None) -> float:
    table = counts.astype(np.float64)
    if scores is not None:
        return correlation_ratio(table, numbers=scores) - correlation_ratio_adjustment(table, numbers=scores)
    return mean_square_contingency(table) - mean_square_adjustment(table)


def _classes(evidence: AttributeEvidence) -> int:
    """The number of label values that may have records, less one; 1 if they have scores."""
    if evidence.label_scores is not None:
        return 1
    certain = evidence.rounded_once is None and evidence.knows_label
    return int(np.count_nonzero(evidence.label_counts)) - 1 if certain else evidence.labels - 1
