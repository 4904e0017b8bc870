"""The losses of configurations: attribute by attribute, or by a joint measure.

The result of a joint measure, and its reference utility.

A cache of results, shared by questions about the same attributes.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, cast

import numpy as np

from aegis_advisor.arrays import Codes, FloatArray, IntArray
from aegis_advisor.evidence import IDENTITY, AttributeEvidence, PairAssociation, PairCounts, PublishedTrace
from aegis_advisor.joint import Estimate, JointScores, score_jointly
from aegis_advisor.measures import Measure
from aegis_advisor.measures.partial_table import numbers_of
from aegis_advisor.ranking.deviation import AttributeAssessment, assess, masking_table
from aegis_advisor.ranking.influence import Sample, influences
from aegis_advisor.ranking.order import CodeBlocks
from aegis_advisor.ranking.own_reference import assess_own
from aegis_advisor.ranking.recommendation import JointAssessment, Question, RankingBasis, ReferenceSource
from aegis_advisor.ranking.standard_errors import Errors, difference_biases, difference_errors, utility_errors
from aegis_advisor.reconstruction import Reference

SLACK = 1e-9
"""The published trace and the utilities are computed from the same counts, in another order."""


@dataclass(frozen=True, slots=True, eq=False)
class JointOutcome:
    """The result of a joint measure for the configurations.

    Attributes:
        reference_utility: the utility relative to which deviations are measured.
        known_utility: the highest utility that is known or estimated from counts.
        certain: a lower bound of the true utility, which is certain if the scores are.
        source: the origin of the reference utility.
    """

    reference_utility: float
    known_utility: float
    certain: float
    scores: JointScores
    source: ReferenceSource = "known"

    def assessment(self, best: int, basis: RankingBasis) -> JointAssessment:
        """The joint assessment, given the best configuration and the basis of the ranking."""
        bound = self.certain if basis == "exact" else None
        added = self.scores.interactions
        interactions = None if added is None else float(added[best])
        return JointAssessment(
            reference_utility=self.reference_utility,
            lower_bound=bound,
            dimensions=int(self.scores.dimensions[best]),
            interactions=interactions,
            known_utility=self.known_utility,
            reference_source=self.source,
        )


def reference_of(
    known: float, published: PublishedTrace | None, *, interactions: bool
) -> tuple[float, ReferenceSource]:
    """The reference utility, and its origin.

    A published trace is the joint utility of the unmasked table, unless counts show more than its rounding explains or
    the measure also sees interactions, which the trace does not contain. Even then it is a lower bound.

    Args:
        known: the highest utility that is known or estimated from counts.
        published: the adjusted trace of the unmasked table, for questions about all of its attributes.
        interactions: whether the measure sees interactions.
    """
    if published is None:
        return known, "known"
    is_whole = not interactions and known <= published.most + SLACK
    return max(known, published.value), "published" if is_whole else "known"


T = TypeVar("T")

MOST = 2_000
"""The most cached results. Sixteen measures of seven attributes are some four hundred."""


class Memory:
    """Cached results by key, of one set of evidence and references; it must not be used with others."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Any] = {}

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The result with this key, computed on first use. Callers must not change it."""
        if key not in self._known:
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[key] = compute()
        return cast("T", self._known[key])


Pair = TypeVar("Pair", PairCounts, PairAssociation)


@dataclass(frozen=True, slots=True, eq=False)
class Selected:
    """An attribute that a question selects.

    Attributes:
        used: the options that configurations use, in order.
    """

    evidence: AttributeEvidence
    reference: Reference
    options: tuple[str, ...]
    used: tuple[str, ...]
    memory: Memory

    @classmethod
    def all_of(
        cls,
        evidence: Sequence[AttributeEvidence],
        references: Sequence[Reference],
        options: Sequence[tuple[str, ...]],
        blocks: CodeBlocks,
        memory: Memory,
    ) -> "list[Selected]":
        """Return the selected attributes of a question, in its order."""
        each = zip(evidence, references, options, _used(blocks, options), strict=True)
        return [cls(*parts, memory) for parts in each]

    def assess(self, measure: Measure, question: Question, *, counts: bool) -> AttributeAssessment:
        """Measure the attribute. If it has no weight, it is only described, and may lack what `own` needs."""
        if question.reference == "own" and counts:
            return assess_own(self.evidence, self.reference, measure, self.used, question.rounding_seed)
        return self.assess_pooled(measure)

    def assess_pooled(self, measure: Measure) -> AttributeAssessment:
        """Measure the attribute against its pooled reference."""
        return self._once("assessment", measure, lambda: assess(self.evidence, self.reference, measure, self.used))

    def sampling(self, measure: Measure, assessment: AttributeAssessment) -> "SampledAttribute":
        """The sampling errors of its maskings' utilities."""
        if assessment is not self.assess_pooled(measure):
            return self._sampling(measure, assessment)
        return self._once("sampling", measure, lambda: self._sampling(measure, assessment))

    def _sampling(self, measure: Measure, assessment: AttributeAssessment) -> "SampledAttribute":
        sample = Sample.of(self.evidence, self.reference, measure)
        moved = influences(self.evidence, sample, measure, self.used, assessment.reference_utility)
        errors = Errors.of(measure, sample, moved, assessment)
        return SampledAttribute.of(errors, self.options, assessment)

    def _once(self, what: str, measure: Measure, compute: Callable[[], T]) -> T:
        key = what, self.evidence.name, self.options, self.used, measure.id, measure.is_corrected
        return self.memory.once(key, compute)

    def by_code(self, assessment: AttributeAssessment, what: Literal["deviation", "utility"]) -> FloatArray:
        """Deviation or utility by code (options,); NaN for options that no configuration uses."""
        table = np.full(len(self.options), np.nan)
        for code, option in enumerate(self.options):
            if option in assessment.maskings:
                table[code] = getattr(assessment.maskings[option], what)
        return table


@dataclass(frozen=True, slots=True, eq=False)
class SampledAttribute:
    """The sampling errors of the utilities of an attribute's maskings.

    Attributes:
        errors: the errors of its maskings.
        options: what its codes stand for.
        moves: (options, n) the error vectors of the options' utilities.
        assessment: its assessment with the standard error and the bias of each masking.
    """

    errors: Errors
    options: tuple[str, ...]
    moves: FloatArray
    assessment: AttributeAssessment
    _against: dict[str, tuple[FloatArray, FloatArray]]

    @classmethod
    def of(cls, errors: Errors, options: tuple[str, ...], assessment: AttributeAssessment) -> "SampledAttribute":
        """Combine the options' errors with an assessment without any."""
        moves = utility_errors(errors, options)
        lengths = dict(zip(options, np.linalg.norm(moves, axis=-1).tolist(), strict=True))
        maskings = {
            one: replace(score, standard_error=lengths[one], bias=errors.influences[one].bias)
            for one, score in assessment.maskings.items()
        }
        return cls(errors, options, moves, replace(assessment, maskings=maskings), {})

    def against(self, best: str) -> tuple[FloatArray, FloatArray]:
        """The error vectors (options, n) of each deviation minus that of the best, and their biases (options,)."""
        if best not in self._against:
            differences = difference_errors(self.errors, self.options, best)
            self._against[best] = differences, difference_biases(self.errors, self.options, best)
        return self._against[best]


def _used(blocks: CodeBlocks, options: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Per attribute, the options that configurations use, in the order of the options."""
    return [
        tuple(option for option, is_used in zip(names, used, strict=True) if is_used)
        for names, used in zip(options, blocks.used(), strict=True)
    ]


TIE_TOLERANCE = 1e-9
"""Deviations this close, relative to the weighted mean of the reference utilities, tie (contract, advice)."""

ROUNDING = 2 * np.finfo(np.float64).eps
"""The largest rounding error of a utility in its measure's unit (`_unit`), beyond `TIE_TOLERANCE` of the utility. The
largest on 4,000 tables of up to 2^53 records, near independence and far from it, was a third of it."""

LEAST = 1e-3
"""A joint measure is of order 1. If it is much smaller, differences in its last digits are rounding errors."""


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The deviations and utilities of configurations.

    Attributes:
        deviations: (configurations,).
        utilities: returns the utilities of configurations (rows,).
        tolerance: deviations this close are a tie.
        joint: the result of a joint measure; None if each attribute is scored by itself.
    """

    deviations: FloatArray
    utilities: Callable[[IntArray], FloatArray]
    tolerance: float
    joint: JointOutcome | None = None


def score_by_attribute(
    selected: Sequence[Selected],
    assessments: Sequence[AttributeAssessment],
    blocks: CodeBlocks,
    measure: Measure,
    weights: FloatArray,
) -> Scores:
    """Score configurations by weighted means over the attributes (the paper's equation 1)."""
    return Scores(
        deviations=blocks.sums(lookups(selected, assessments, "deviation", weights)),
        utilities=lambda rows: blocks.sums(lookups(selected, assessments, "utility", weights), rows),
        tolerance=tie_tolerance(
            [one.evidence for one in selected], [one.reference_utility for one in assessments], measure, weights
        ),
    )


def tie_tolerance(
    evidence: Sequence[AttributeEvidence], references: Sequence[float], measure: Measure, weights: FloatArray
) -> float:
    """The largest difference of tied deviations: a share of the reference utilities, at least the rounding error.

    References may be 0 or nearly so, if the label has a single class or does not depend on the attributes. Two
    deviations contain four rounded utilities, and each of the additions of `n` attributes rounds once more.
    """
    units = np.array([_unit(one, measure) for one in evidence])
    added = np.finfo(np.float64).eps * len(evidence)
    return float(weights @ (TIE_TOLERANCE * np.abs(references) + (4 * ROUNDING + added) * units))


def _unit(evidence: AttributeEvidence, measure: Measure) -> float:
    """The scale of a measure's rounding errors: the records, with which chi-square grows, otherwise 1."""
    grows = measure.unit is None and not measure.is_joint
    return float(evidence.records) if grows else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class KnownPairs:
    """The published counts and associations of pairs of masked attributes."""

    counts: Sequence[PairCounts]
    associations: Sequence[PairAssociation]

    def among(self, places: Sequence[int]) -> "KnownPairs":
        """The pairs with both attributes in `places`, with the attributes renumbered."""
        position = {place: index for index, place in enumerate(places)}

        def within(pairs: Sequence[Pair]) -> list[Pair]:
            chosen = (pair for pair in pairs if position.keys() >= set(pair.attributes))
            return [
                replace(one, attributes=(position[one.attributes[0]], position[one.attributes[1]])) for one in chosen
            ]

        return KnownPairs(within(self.counts), within(self.associations))


def score_by_joint_measure(
    selected: Sequence[Selected],
    assessments: Sequence[AttributeAssessment],
    codes: Codes,
    known: KnownPairs,
    others: Codes | None,
    question: Question,
    published: PublishedTrace | None = None,
) -> Scores:
    """Score configurations by a joint measure of the attributes with weight, which must all have the same weight.

    Deviations are relative to the published trace of the unmasked table, if there is one. Otherwise they are relative
    to the highest known utility: of any configuration, whether asked about or among `others`, or of a single
    attribute's reference, which may be an estimate. The order is the same either way.

    Raises:
        ValueError: the weights differ.
    """
    places = np.flatnonzero(question.weights).tolist()
    if np.ptp(question.weights[places]) > 0:
        raise ValueError("a joint measure needs equal weights for all attributes with a weight above 0")
    measure, known = question.resolve(), known.among(places)
    first = selected[places[0]].evidence
    numbers = numbers_of(first.labels, first.label_scores) if measure.uses_scores else None
    joint = score_jointly(
        [selected[place].evidence for place in places],
        [selected[place].options for place in places],
        codes[:, places],
        known.counts,
        corrected=measure.is_corrected,
        others=None if others is None else others[:, places],
        associations=known.associations if measure.sees_interactions else None,
        estimate=estimates(
            [selected[place].evidence for place in places], [selected[place].reference for place in places]
        ),
        numbers=numbers,
    )
    single = [assessments[place] for place in places]
    best = max([joint.best_known, *(one.reference_utility for one in single)])
    certain = max([joint.best_known, *(one.lower_bound for one in single if one.lower_bound is not None)])
    of_measure = measure.uses_scores == (first.label_scores is not None)  # the published trace is by one of them
    whole = published if of_measure and measure.is_corrected and len(places) == len(selected) else None
    reference, source = reference_of(best, whole, interactions=measure.sees_interactions)
    return Scores(
        deviations=reference - joint.utility,
        utilities=lambda rows: joint.utility[rows],
        tolerance=TIE_TOLERANCE * max(abs(best), LEAST),
        joint=JointOutcome(reference, best, certain, joint, source),
    )


def estimates(known: Sequence[AttributeEvidence], references: Sequence[Reference]) -> Estimate:
    """Estimate the counts of maskings from the references of the attributes, where they are declared inexact."""
    by_name = {one.name: reference for one, reference in zip(known, references, strict=True)}

    def estimate(evidence: AttributeEvidence, option: str) -> FloatArray | None:
        reference = by_name[evidence.name]
        if option == IDENTITY:
            return reference.fold(np.arange(evidence.values), evidence.values) if evidence.is_fitted else None
        if not evidence.masking(option).is_fitted:
            return None
        return masking_table(evidence, reference, option)[0]

    return estimate


def lookups(
    selected: Sequence[Selected],
    assessments: Sequence[AttributeAssessment],
    what: Literal["deviation", "utility"],
    weights: FloatArray,
) -> list[FloatArray]:
    """Per attribute (options,), the deviation or utility times the weight."""
    scored = zip(selected, assessments, weights, strict=True)
    return [weight * one.by_code(assessment, what) for one, assessment, weight in scored]
