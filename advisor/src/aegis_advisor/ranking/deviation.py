"""What each masking of an attribute loses: deviations from its reference, and what is certain about them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, TypedDict

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.evidence import DROP, IDENTITY, AttributeEvidence, Knowledge, Masking
from aegis_advisor.evidence.folding import exact_counts
from aegis_advisor.measures import Measure
from aegis_advisor.measures.margins import entropy
from aegis_advisor.reconstruction import Certificate, Reference
from aegis_advisor.reconstruction.exact import nearest_with_label

Source = Literal["counts", "fitted", "reference", "definition"]
Bound = Literal["exact", "lower", "upper"]


@dataclass(frozen=True, slots=True)
class MaskingDeviation:
    """One masking of an attribute, measured.

    Attributes:
        utility: the measure of its table, in the measure's unit.
        deviation: how far that is from the reference utility, never negative.
        source: where the table comes from: its own counts, a fit to counts that are declared to be inexact, the
            reference folded by its mapping, or what `identity` and `drop` mean.
        standard_error: of the utility, in the same unit; None where it was not asked for.
    """

    utility: float
    deviation: float
    source: Source
    standard_error: float | None = None


@dataclass(frozen=True, slots=True)
class AttributeAssessment:
    """One attribute, measured.

    Attributes:
        name: the attribute.
        knowledge: how much is known of it unmasked: joint | histogram | no_histogram.
        reference_utility: rho_ref, the best of the reference's utility and of every exact view's.
        reference_estimated: the measure asks which cells of the reference are empty, and that is known
            approximately only.
        bound: what bound_value is to the attribute's true utility; None where nothing is certain.
        bound_value: None exactly where `bound` is.
        lower_bound: the true utility is no less, in the measure's unit; None where nothing is certain.
        upper_bound: the true utility is no more.
        maskings: by masking id, those that were asked for.
        certificate: of the reconstruction.
    """

    name: str
    knowledge: Knowledge
    reference_utility: float
    reference_estimated: bool
    bound: Bound | None
    bound_value: float | None
    lower_bound: float | None
    upper_bound: float | None
    maskings: Mapping[str, MaskingDeviation]
    certificate: Certificate


def assess(
    evidence: AttributeEvidence, reference: Reference, measure: Measure, used: Collection[str]
) -> AttributeAssessment:
    """Measure an attribute and its maskings.

    An exact view is a counted, deterministic masking, or one whose counts follow from others
    (`exact_counts`). By the data-processing inequality no exact view has more utility than the attribute
    (monotone measures), so the reference utility is taken to be at least the best of theirs: then every exact
    view loses `|rho_ref - rho|` without the sign ever flipping, whatever the error of the reconstruction.

    Args:
        evidence: of the attribute.
        reference: its reconstruction.
        measure: of utility.
        used: the ids of the maskings to measure, `identity` and `drop` among them.

    Raises:
        KeyError: there is no such masking.
        ValueError: neither mapping nor counts of a masking are known.
    """
    exact = exact_utilities(evidence, measure)
    estimated = measure(reference.joint, reference.statistics)
    known = [*exact.values(), *_other_utilities(evidence, reference, measure)]
    if evidence.joint is not None and measure.monotone:
        known = []  # unmasked counts are the truth: a view that beats them is not what its provider says
    reference_utility = measure.best([estimated, *known])
    bound, bound_value = _bound(evidence, reference, measure, list(exact.values()), estimated)
    maskings: dict[str, MaskingDeviation] = {}
    for used_id in used:
        if used_id == IDENTITY:
            maskings[used_id] = MaskingDeviation(reference_utility, 0.0, "definition")
            continue
        table, source = masking_table(evidence, reference, used_id)
        utility = exact[used_id] if source == "counts" and used_id in exact else measure(table)
        maskings[used_id] = MaskingDeviation(utility, abs(reference_utility - utility), source)
    return AttributeAssessment(
        name=evidence.name,
        knowledge=evidence.knowledge,
        reference_utility=reference_utility,
        reference_estimated=measure.depends_on_support and not reference.certificate.support_known,
        bound=bound,
        bound_value=bound_value,
        **_interval(evidence, reference, measure, bound_value),
        maskings=maskings,
        certificate=reference.certificate,
    )


def exact_utilities(evidence: AttributeEvidence, measure: Measure) -> dict[str, float]:
    """The utility of every exact view, by the masking's id."""
    tables = ((masking.id, exact_counts(evidence, masking)) for masking in evidence.maskings)
    return {masking: measure(table.astype(np.float64)) for masking, table in tables if table is not None}


def _other_utilities(evidence: AttributeEvidence, reference: Reference, measure: Measure) -> list[float]:
    """The utilities of `drop` and of the maskings that are no exact views, where they can exceed the reference's.

    By a measure that is not monotone they can, and would be counted as losing what they seem to gain, more than
    `drop` does. Of counts whose origin is unknown nothing is expected.
    """
    if measure.monotone:
        return []
    others = [
        one.id
        for one in evidence.maskings
        if not one.exact and (one.mapping is not None or one.transition is not None or one.deterministic)
    ]
    return [measure(masking_table(evidence, reference, masking)[0]) for masking in (DROP, *others)]


def drop_table(evidence: AttributeEvidence) -> FloatArray:
    """The table (1, labels) of a dropped attribute: one masked value, which has every record."""
    return evidence.label_counts[np.newaxis, :].astype(np.float64)


def masking_table(evidence: AttributeEvidence, reference: Reference, used_id: str) -> tuple[FloatArray, Source]:
    """The table (groups, labels) of a masking or of `drop`, and where it comes from (model, section 4).

    Raises:
        KeyError: there is no such masking.
        ValueError: neither its mapping nor its counts are known.
    """
    if used_id == DROP:
        known = evidence.knows_label
        return drop_table(evidence) if known else reference.joint.sum(axis=0, keepdims=True), "definition"
    masking = evidence.masking(used_id)
    if masking.is_fitted:
        return _fitted_table(evidence, reference, masking), "fitted"
    if masking.joint is not None:
        return masking.joint.astype(np.float64), "counts"
    if masking.mapping is None:
        raise ValueError(f"neither mapping nor counts of masking {used_id!r} are known")
    return _folded_table(evidence, reference, masking, masking.mapping), "reference"


def _fitted_table(evidence: AttributeEvidence, reference: Reference, masking: Masking) -> FloatArray:
    """The table of a masking whose counts are inexact: of the reference fitted to them, or of a fit of its own."""
    if masking.mapping is not None:
        return _folded_table(evidence, reference, masking, masking.mapping)
    return nearest_with_label(masking, evidence) if masking.transition is None else reference.drawn(masking.transition)


def _folded_table(evidence: AttributeEvidence, reference: Reference, masking: Masking, mapping: IntArray) -> FloatArray:
    """The reference folded by a mapping, or the counts that are certain of it."""
    counts = exact_counts(evidence, masking)
    return reference.fold(mapping, masking.groups) if counts is None else counts.astype(np.float64)


def _bound(
    evidence: AttributeEvidence, reference: Reference, measure: Measure, exact: list[float], estimated: float
) -> tuple[Bound | None, float | None]:
    """What is certain about the attribute's true utility (model, section 4, bounds)."""
    if evidence.joint is not None:
        return "exact", estimated
    certain = exact if measure.monotone else []
    information, counts = reference.information_bound, evidence.value_counts
    if measure.of_information and information is not None and counts is not None and reference.certificate.converged:
        entropies = [entropy(histogram.astype(np.float64)) for histogram in (counts, evidence.label_counts)]
        certain = [*certain, measure.of_information(information, *entropies)]
    if not certain:
        return None, None
    return ("lower" if measure.better == "higher" else "upper"), measure.best(certain)


class _Interval(TypedDict):
    lower_bound: float | None
    upper_bound: float | None


def _interval(evidence: AttributeEvidence, reference: Reference, measure: Measure, certain: float | None) -> _Interval:
    """Where the true utility lies: between what is certain and what no table that fits exceeds."""
    if evidence.joint is not None:
        return {"lower_bound": certain, "upper_bound": certain}
    # One that is corrected for its bias is another measure by the same name.
    beyond = None if measure.is_corrected else reference.ceilings.get(measure.id)
    if certain is None and measure.monotone and evidence.knows_label:
        certain = measure(drop_table(evidence))
    if beyond is not None and certain is not None:  # they may meet, but for rounding
        beyond = measure.best([beyond, certain])
    if measure.better == "higher":
        return {"lower_bound": certain, "upper_bound": beyond}
    return {"lower_bound": beyond, "upper_bound": certain}
