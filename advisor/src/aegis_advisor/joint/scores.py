"""The joint measure of every configuration, and the highest known utility."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from aegis_advisor.arrays import Codes, FloatArray, IntArray
from aegis_advisor.errors import (
    ContradictoryPairsError,
    MissingAssociationsError,
    MissingPairsError,
    TooManyColumnsError,
)
from aegis_advisor.evidence import DROP, IDENTITY, AttributeEvidence, PairAssociation, PairCounts
from aegis_advisor.evidence.attribute import exact_counts
from aegis_advisor.joint.count_errors import CountErrors
from aegis_advisor.joint.design import Design, Estimate, known_label
from aegis_advisor.joint.interactions import Interactions
from aegis_advisor.joint.trace import traces
from aegis_advisor.measures.association import trace_bias

MOST_ERRORS = 200
"""The most configurations whose standard errors are computed, which takes a few milliseconds each."""

MORE = 10_000
"""The most configurations scored besides those asked about; enough for all but very large entries."""


@dataclass(frozen=True, slots=True, eq=False)
class JointScores:
    """The utility of configurations, all attributes together.

    Attributes:
        utility: (configurations,) Pillai's trace of each, minus its bias if `corrected`.
        dimensions: (configurations,) the rank of its masked attributes: masked values with records, minus one for each
            attribute, minus those that depend on the others.
        doubt: the approximate rounding error of a utility; infinite if unknown.
        best_known: the highest utility of these configurations and of others whose counts are known.
        interactions: (configurations,) the part of the utility due to interactions; None if these were not requested.
        variance: computes the variances of the utilities of some configurations (rows,) due to errors of counts; None
            if all counts are exact.
    """

    utility: FloatArray
    dimensions: IntArray
    doubt: float
    best_known: float
    interactions: FloatArray | None = None
    variance: Callable[[IntArray], FloatArray] | None = None

    def errors(self, rows: IntArray, *, wanted: bool = True) -> FloatArray:
        """The standard errors (rows,) of utilities due to errors of counts; NaN where not computed."""
        errors = np.full(rows.size, np.nan)
        if self.variance is not None and wanted:
            errors[:MOST_ERRORS] = np.sqrt(self.variance(rows[:MOST_ERRORS]))
        return errors


def score_jointly(
    evidence: Sequence[AttributeEvidence],
    options: Sequence[tuple[str, ...]],
    codes: Codes,
    pairs: Sequence[PairCounts],
    *,
    corrected: bool,
    others: Codes | None = None,
    associations: Sequence[PairAssociation] | None = None,
    estimate: Estimate = lambda _evidence, _option: None,
    numbers: FloatArray | None = None,
) -> JointScores:
    """Score configurations by Pillai's trace `tr(Sxx^+ Sxy Syy^+ Syx)` of the indicators of masked values and label.

    For a single attribute it is chi-square / N. It grows with what an attribute adds to the others, so redundant
    attributes count once. It misses interactions, the information that only combinations of attributes have: these are
    added if `associations` are given.

    Args:
        options: per attribute, the masking ids, `identity` and `drop` that codes stand for.
        codes: (configurations, attributes).
        pairs: pair counts; those that follow by folding may be left out.
        corrected: whether to subtract the bias of the trace (`trace_bias`), which grows with the number of masked
            values.
        others: (others, attributes) configurations whose scores are not returned, but count for `best_known`.
        associations: the associations with the label of every two maskings used together; None to leave interactions
            out.
        estimate: estimates the joint counts of a masking with the label from counts that are not exact.
        numbers: (labels,) the scores of the label's classes: the trace is then their `R^2`. None for the classes.

    Raises:
        MissingCountsError: a masking that is used has no joint counts with the label.
        MissingPairsError: pair counts of maskings that a configuration uses are not known.
        MissingAssociationsError: the joint association of two maskings of a configuration with the label is not known.
        ContradictoryPairsError: no table has these pair counts.
        TooManyColumnsError: the maskings have too many dimensions.
    """
    more = codes[:0] if others is None else _functions(evidence, options, others)
    try:
        design = Design.of(evidence, options, np.concatenate([codes, more]), pairs, estimate, numbers)
    except TooManyColumnsError:
        design, more = Design.of(evidence, options, codes, pairs, estimate, numbers), codes[:0]
    if design.lacking(codes).any():
        raise MissingPairsError(list(_missing(design, evidence, options, codes)))
    more = _promising(design, more[~design.lacking(more)])
    label = known_label(evidence)
    traced = traces(design, np.concatenate([codes, more]), label)
    utility, count = traced.trace, len(codes)
    if corrected:
        classes, records = design.label.size, float(label.sum())
        each = zip(utility.tolist(), traced.rank.tolist(), strict=True)
        utility = np.array([trace - trace_bias(trace, rank, classes, records) for trace, rank in each])
    if np.isnan(utility[:count]).any():
        raise ContradictoryPairsError
    errors = CountErrors.of(design, label)
    scores = JointScores(
        utility[:count],
        traced.rank[:count],
        float(traced.doubt[:count].max()),
        float(np.nanmax(utility)),
        variance=None if errors is None else partial(_variances, errors, codes, traced.coefficients or ()),
    )
    if associations is None:
        return scores
    return _with_interactions(scores, design, codes, associations, label, errors)


def _variances(errors: CountErrors, codes: Codes, coefficients: Sequence[FloatArray], rows: IntArray) -> FloatArray:
    """The variances (rows,) of the traces of some configurations."""
    return np.array(
        [errors.trace_variance(list(enumerate(codes[row].tolist())), coefficients[row]) for row in rows.tolist()]
    )


def _with_interactions(
    scores: JointScores,
    design: Design,
    codes: Codes,
    associations: Sequence[PairAssociation],
    label: IntArray,
    errors: CountErrors | None,
) -> JointScores:
    """The scores with interactions."""
    used = list(design.used_together(codes))
    known = {_named(one): one for one in associations}
    names = [design.names(pair) for pair in used]
    if missing := [name for name in names if name not in known]:
        attributes = [one.name for one in design.tables.evidence]
        raise MissingAssociationsError([(attributes[at], one, attributes[to], two) for at, one, to, two in missing])
    by_pair = dict(zip(used, map(known.__getitem__, names), strict=True))
    explained, moved = Interactions.of(design, by_pair, label, errors).explained(codes)
    unexplained = np.count_nonzero(label) - 1 - scores.utility
    added = explained * unexplained
    utility = scores.utility + added
    best = max(scores.best_known, float(utility.max()))

    def variance(rows: IntArray) -> FloatArray:
        alone = np.zeros(rows.size) if scores.variance is None else scores.variance(rows)
        return alone * (1 - explained[rows]) ** 2 + moved[rows] * unexplained[rows] ** 2

    return replace(
        scores,
        utility=utility,
        best_known=best,
        interactions=added,
        variance=None if errors is None else variance,
    )


def _named(association: PairAssociation) -> tuple[int, str, int, str]:
    """The attributes and maskings of an association, the attribute that comes first in the entry first."""
    (first, one), (second, two) = sorted(zip(association.attributes, association.maskings, strict=True))
    return first, one, second, two


def _functions(evidence: Sequence[AttributeEvidence], options: Sequence[tuple[str, ...]], codes: Codes) -> Codes:
    """The configurations whose maskings are all deterministic with known counts: their utilities are bounds."""
    sound = np.ones(len(codes), dtype=bool)
    for known, names, column in zip(evidence, options, codes.T, strict=True):
        sound &= np.array([is_counted_function(known, name) for name in names])[column]
    return codes[sound]


def is_counted_function(evidence: AttributeEvidence, option: str) -> bool:
    """Whether a masking is a function of the value with known exact joint counts with the label."""
    if option == DROP:
        return True
    if option == IDENTITY:
        return evidence.joint is not None
    return exact_counts(evidence, evidence.masking(option)) is not None


def _missing(
    design: Design, evidence: Sequence[AttributeEvidence], options: Sequence[tuple[str, ...]], codes: Codes
) -> Iterator[tuple[str, str, str, str]]:
    """The missing pair counts that configurations need, as attribute and masking of each side."""
    for (first, second), unknown in design.unknown.items():
        needed = np.unique(codes[:, [first, second]], axis=0)
        for code, other in needed[unknown[needed[:, 0], needed[:, 1]]].tolist():
            yield evidence[first].name, options[first][code], evidence[second].name, options[second][other]


def _promising(design: Design, codes: Codes) -> Codes:
    """At most `MORE` configurations: those with the largest sum over the traces of single attributes."""
    if len(codes) <= MORE:
        return codes
    single = np.square(design.labels).sum(axis=1)
    total = np.zeros(len(codes))
    for column, of in zip(codes.T, design.columns, strict=True):
        total += np.array([single[columns].sum() for columns in of])[column]
    return codes[np.argsort(-total, kind="stable")[:MORE]]
