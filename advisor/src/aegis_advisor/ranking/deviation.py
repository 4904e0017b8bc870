"""The loss of each masking: its deviation from the reference utility, and bounds of the true utility."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, TypedDict

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.atoms import AtomStatistics
from aegis_advisor.evidence import (
    DROP,
    IDENTITY,
    REFINED,
    AttributeEvidence,
    Knowledge,
    coarser_views,
    likely_tables,
)
from aegis_advisor.evidence.attribute import exact_counts
from aegis_advisor.measures import Measure
from aegis_advisor.measures.partial_table import entropy
from aegis_advisor.reconstruction import Certificate, Reference
from aegis_advisor.reconstruction.exact import nearest_with_label

Source = Literal["counts", "fitted", "reference", "definition"]
Bound = Literal["exact", "lower", "upper"]

REFERENCE = "\0reference"
"""The name of likely tables of the reference; no masking can have it."""


@dataclass(frozen=True, slots=True)
class MaskingDeviation:
    """The utility and deviation of one masking of an attribute.

    Attributes:
        utility: the measure of its table, in the measure's unit.
        source: the origin of the table: its own counts or others that determine it, a fit to counts declared inexact,
            the reference folded by its mapping, or the definition of `identity` or `drop`.
        standard_error: the standard error of the utility, in the same unit; None if it was not requested, or if the
            measure has none.
        bias: how much the utility exceeds that of the population on average, likewise (`Measure.sampling_bias`).
    """

    utility: float
    deviation: float
    source: Source
    standard_error: float | None = None
    bias: float | None = None


@dataclass(frozen=True, slots=True)
class AttributeAssessment:
    """The measures and bounds of one attribute.

    Attributes:
        knowledge: how much is known about it unmasked: joint | histogram | no_histogram.
        reference_utility: rho_ref, the best utility of the reference, of every exact view and, for a monotone measure,
            of the partitions that exact views determine jointly.
        reference_estimated: whether the measure depends on the empty cells of the reference while these are only
            approximate.
        bound: how bound_value bounds the attribute's true utility; None if nothing is certain.
        bound_value: None if and only if `bound` is None.
        lower_bound: a lower bound of the true utility, in the measure's unit; None if nothing is certain.
        upper_bound: an upper bound of the true utility, likewise.
    """

    name: str
    knowledge: Knowledge
    reference_utility: float
    drop_utility: float
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

    An exact view is a counted, deterministic masking, or one whose counts follow from others (`exact_counts`), or a
    partition that no masking has but whose counts follow (`Reference.refined`). By the data-processing inequality no
    exact view has more utility than the attribute (for monotone measures), so the reference utility is at least the
    best utility of these views. Then every exact view loses `|rho_ref - rho|`, and the sign of the difference never
    changes, whatever the error of the reconstruction.

    Args:
        used: the ids of the maskings to measure, possibly with `identity` and `drop`.

    Raises:
        KeyError: there is no such masking.
        ValueError: neither mapping nor counts of a masking are known.
    """
    exact = exact_utilities(evidence, measure)
    estimated = _estimated(evidence, reference, measure, exact)
    refined: list[float] = []  # the utilities of partitions without a masking whose counts follow from others
    if measure.monotone:
        refined = [measured(evidence, measure, REFINED, table.astype(np.float64)) for table in reference.refined]
    known = [*exact.values(), *refined, *_other_utilities(evidence, reference, measure)]
    if evidence.joint is not None and measure.monotone and evidence.rounded_once is None:
        known = []  # unmasked counts are the truth: a view that beats them contradicts its declaration
    reference_utility = measure.best([estimated, *known])
    bound, bound_value = _bound(evidence, reference, measure, [*exact.values(), *refined], estimated)
    drop_utility = measure(masking_table(evidence, reference, DROP)[0])
    utilities: dict[str, tuple[float, Source]] = {masking: (utility, "counts") for masking, utility in exact.items()}
    utilities |= {IDENTITY: (reference_utility, "definition"), DROP: (drop_utility, "definition")}
    maskings: dict[str, MaskingDeviation] = {}
    for used_id in used:
        if used_id not in utilities:
            table, source = masking_table(evidence, reference, used_id)
            utilities[used_id] = measured(evidence, measure, used_id, table), source
        utility, source = utilities[used_id]
        maskings[used_id] = MaskingDeviation(utility, abs(reference_utility - utility), source)
    return AttributeAssessment(
        name=evidence.name,
        knowledge=evidence.knowledge,
        reference_utility=reference_utility,
        drop_utility=drop_utility,
        reference_estimated=measure.depends_on_support and not reference.certificate.support_known,
        bound=bound,
        bound_value=bound_value,
        **_interval(evidence, reference, measure, bound_value),
        maskings=maskings,
        certificate=reference.certificate,
    )


def exact_utilities(evidence: AttributeEvidence, measure: Measure) -> dict[str, float]:
    """The utility of every exact view, by masking id.

    By a monotone measure no view beats one that it is a function of. So with rounded counts, a view has at least the
    best utility of the views that are functions of it.
    """
    tables = ((masking.id, exact_counts(evidence, masking)) for masking in evidence.maskings)
    utilities = {
        name: measured(evidence, measure, name, table.astype(np.float64)) for name, table in tables if table is not None
    }
    if evidence.rounded_once is None or not measure.monotone:
        return utilities
    coarser = coarser_views(evidence)
    return {
        name: measure.best([utility, *(utilities[other] for other in coarser.get(name, ()) if other in utilities)])
        for name, utility in utilities.items()
    }


def _estimated(
    evidence: AttributeEvidence, reference: Reference, measure: Measure, exact: Mapping[str, float]
) -> float:
    """The utility of the reference.

    If it equals the table of an exact view, that utility is reused, since estimating the bias of rounding is slow.
    """
    if evidence.rounded_once is not None and measure.monotone and not measure.weighs_values:
        for one in evidence.maskings:
            if one.id in exact and one.mapping is not None and one.mapping.max() + 1 == len(reference.joint):
                return exact[one.id]
    return measured(evidence, measure, REFERENCE, reference.joint, reference.statistics)


def measured(
    evidence: AttributeEvidence, measure: Measure, name: str, table: FloatArray, atoms: AtomStatistics | None = None
) -> float:
    """The utility of a table (rows, labels) of counts rounded once, less the certain bias of rounding.

    It is never worse than that of `drop` by a monotone measure, and not below 0 by others.

    Args:
        evidence: the evidence that the table is from.
        name: the name of the table (`likely_tables`).
        atoms: the sums over the values of its rows, if these are atoms.
    """
    likely = None if name == DROP else likely_tables(evidence, name, table)
    if likely is None:
        return measure(table, atoms)
    utility = measure.less_rounding(table, atoms, likely)
    if measure.is_corrected:
        return utility
    return max(0.0, utility) if measure.better == "higher" else min(utility, measure(table.sum(axis=0, keepdims=True)))


def _other_utilities(evidence: AttributeEvidence, reference: Reference, measure: Measure) -> list[float]:
    """The utilities of `drop` and of maskings without exact counts, if they can exceed that of the reference.

    They can if the measure is not monotone. Their apparent gain would then count as a loss, which can be larger than
    that of `drop`. Counts of unknown origin are left out.
    """
    if measure.monotone:
        return []
    others = [
        one.id
        for one in evidence.maskings
        if not one.exact and (one.mapping is not None or one.transition is not None or one.deterministic)
    ]
    tables = ((masking, masking_table(evidence, reference, masking)[0]) for masking in (DROP, *others))
    return [measured(evidence, measure, masking, table) for masking, table in tables]


def drop_table(evidence: AttributeEvidence) -> FloatArray:
    """The table (1, labels) of a dropped attribute: one masked value with every record."""
    return evidence.label_counts[np.newaxis, :].astype(np.float64)


def masking_table(evidence: AttributeEvidence, reference: Reference, used_id: str) -> tuple[FloatArray, Source]:
    """The table (groups, labels) of a masking or of `drop`, and its origin (`docs/model.md`).

    Raises:
        KeyError: there is no such masking.
        ValueError: neither its mapping nor its counts are known.
    """
    if used_id == DROP:
        known = evidence.knows_label
        return drop_table(evidence) if known else reference.joint.sum(axis=0, keepdims=True), "definition"
    masking = evidence.masking(used_id)
    if (counts := exact_counts(evidence, masking)) is not None:
        return counts.astype(np.float64), "counts"
    if masking.is_fitted:  # from the reference fitted to its counts, or from a fit of its own
        if masking.mapping is not None:
            table = reference.fold(masking.mapping, masking.groups)
        elif masking.transition is not None:
            table = reference.drawn(masking.transition)
        else:
            table = nearest_with_label(masking, evidence)
        return table, "fitted"
    if masking.joint is not None:
        return masking.joint.astype(np.float64), "counts"
    if masking.mapping is None:
        raise ValueError(f"neither mapping nor counts of masking {used_id!r} are known")
    return reference.fold(masking.mapping, masking.groups), "reference"


def _bound(
    evidence: AttributeEvidence, reference: Reference, measure: Measure, exact: list[float], estimated: float
) -> tuple[Bound | None, float | None]:
    """The certain bound of the attribute's true utility (`docs/model.md`, bounds); rounded counts give none."""
    if evidence.rounded_once is not None:
        return None, None
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
    """The interval of the true utility: between the certain bound and the ceiling that no table that fits exceeds.

    Rounded counts give none.
    """
    if evidence.rounded_once is not None:
        return {"lower_bound": None, "upper_bound": None}
    if evidence.joint is not None:
        return {"lower_bound": certain, "upper_bound": certain}
    # The ceiling is that of the uncorrected measure, which has the same id.
    beyond = None if measure.is_corrected else reference.ceilings.get(measure.id)
    if certain is None and measure.monotone and evidence.knows_label:
        certain = measure(drop_table(evidence))
    if beyond is not None and certain is not None:  # they may be equal up to rounding
        beyond = measure.best([beyond, certain])
    if measure.better == "higher":
        return {"lower_bound": certain, "upper_bound": beyond}
    return {"lower_bound": beyond, "upper_bound": certain}
