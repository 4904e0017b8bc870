"""The joint measure of every configuration, and the most that is known to be there."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.advisor.arrays import FloatArray, IntArray
from app.advisor.blocks import Codes
from app.advisor.deviation import masking_named
from app.advisor.errors import MissingPairsError, TooManyColumnsError
from app.advisor.evidence import DROP, IDENTITY, AttributeEvidence, PairCounts
from app.advisor.evidence.refinement import groups_of
from app.advisor.joint.design import Design
from app.advisor.joint.elimination import Traces, traces
from app.advisor.measures.association import trace_bias
from app.advisor.views import determined_counts

MORE = 100
"""Configurations that are looked at besides those asked about: enough to find the one that keeps the most."""


@dataclass(frozen=True, slots=True, eq=False)
class JointScores:
    """What configurations keep, all attributes together.

    Attributes:
        utility: (configurations,) Pillai's trace of each, less its bias if that was asked for.
        dimensions: (configurations,) the rank of its masked attributes: masked values with records, less one for each
            attribute, less what depends on the others.
        best_known: the most utility of any of them, of others, and of the finest maskings of all together, as far as
            their pair counts are known.
    """

    utility: FloatArray
    dimensions: IntArray
    best_known: float


def score_jointly(
    evidence: Sequence[AttributeEvidence],
    options: Sequence[tuple[str, ...]],
    codes: Codes,
    pairs: Sequence[PairCounts],
    *,
    corrected: bool,
    others: Codes | None = None,
) -> JointScores:
    """Pillai's trace `tr(Sxx^+ Sxy Syy^+ Syx)` of the masked attributes' indicators and the label's.

    Of one attribute it is chi-square / N. It grows with what an attribute adds to the others, so that redundant ones
    count once; what attributes tell only together (interactions) it does not see.

    Args:
        evidence: of the attributes.
        options: per attribute the masking ids, `identity` and `drop`, that codes stand for.
        codes: (configurations, attributes).
        pairs: pair counts; those that follow by folding may be left out.
        corrected: less the bias of the trace (`trace_bias`), which grows with the number of masked values.
        others: (others, attributes) configurations that are not scored. The finest of them tell, too, what is there.

    Raises:
        MissingCountsError, MissingPairsError, ContradictoryPairsError, TooManyColumnsError.
    """
    others = codes[:0] if others is None else others
    design, rows = _design(evidence, options, codes, others, pairs)
    found = traces(design, rows)
    utility = _less_bias(found, evidence[0].label_histogram) if corrected else found.trace
    count = len(codes)
    return JointScores(utility[:count], found.rank[:count], float(utility.max()))


def _design(
    evidence: Sequence[AttributeEvidence],
    options: Sequence[tuple[str, ...]],
    codes: Codes,
    others: Codes,
    pairs: Sequence[PairCounts],
) -> tuple[Design, Codes]:
    """The design, and the configurations with more of them below, as far as their counts are known."""
    groups = [_groups(*each) for each in zip(evidence, options, strict=True)]
    finest = others[_finest(others, groups)]
    together = [_finest_used(*each) for each in zip(np.concatenate([codes, finest]).T, groups, strict=True)]
    for more in (np.concatenate([finest, np.array([together], dtype=codes.dtype)]), finest):
        try:
            extended = np.concatenate([codes, more])
            return Design.of(evidence, options, extended, pairs), extended
        except (MissingPairsError, TooManyColumnsError):
            continue
    return Design.of(evidence, options, codes, pairs), codes


def _groups(evidence: AttributeEvidence, options: tuple[str, ...]) -> IntArray:
    """(options,) how many masked values each has; 0 where its joint counts are not those of a function of the value."""
    return np.array([groups_of(evidence, one) if _is_counted(evidence, one) else int(one == DROP) for one in options])


def _is_counted(evidence: AttributeEvidence, option: str) -> bool:
    if option in {IDENTITY, DROP}:
        return option == IDENTITY and evidence.joint is not None
    return determined_counts(evidence, masking_named(evidence, option)) is not None


def _finest(codes: Codes, groups: Sequence[IntArray]) -> IntArray:
    """Of the configurations whose maskings are all counted those with the most masked values, `MORE` at most."""
    each = np.array([of[column] for column, of in zip(codes.T, groups, strict=True)])
    counted = np.flatnonzero(each.all(axis=0))
    return counted[np.argsort(-each[:, counted].sum(axis=0), kind="stable")][:MORE]


def _finest_used(column: Codes, groups: IntArray) -> int:
    """The code, among those used, of the masking with the most masked values."""
    used = np.unique(column)
    return int(used[groups[used].argmax()])


def _less_bias(found: Traces, label_histogram: IntArray) -> FloatArray:
    classes, records = int(np.count_nonzero(label_histogram)) - 1, float(label_histogram.sum())
    each = zip(found.trace.tolist(), found.rank.tolist(), strict=True)
    return np.array([trace - trace_bias(trace, rank, classes, records) for trace, rank in each])
