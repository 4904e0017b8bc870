"""The joint measure of every configuration, and the most that is known to be there."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.advisor.arrays import FloatArray, IntArray
from app.advisor.blocks import Codes
from app.advisor.deviation import IDENTITY
from app.advisor.errors import MissingPairsError
from app.advisor.evidence import AttributeEvidence, PairCounts
from app.advisor.joint.design import Design
from app.advisor.joint.elimination import Traces, traces
from app.advisor.measures.association import trace_bias


@dataclass(frozen=True, slots=True, eq=False)
class JointScores:
    """What configurations keep, all attributes together.

    Attributes:
        utility: (configurations,) Pillai's trace of each, less its bias if that was asked for.
        dimensions: (configurations,) the rank of its masked attributes: masked values with records, less one for each
            attribute, less what depends on the others.
        best_known: the most utility of any of them, or of the finest maskings together if their pair counts are known.
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

    Raises:
        MissingCountsError, MissingPairsError, ContradictoryPairsError, TooManyColumnsError.
    """
    design, rows = _design(evidence, options, codes, pairs)
    found = traces(design, rows)
    utility = _less_bias(found, evidence[0].label_histogram) if corrected else found.trace
    count = len(codes)
    return JointScores(utility[:count], found.rank[:count], float(utility.max()))


def _design(
    evidence: Sequence[AttributeEvidence],
    options: Sequence[tuple[str, ...]],
    codes: Codes,
    pairs: Sequence[PairCounts],
) -> tuple[Design, Codes]:
    """The design, and the configurations with the finest maskings of all for one more if these can be told together."""
    finest = np.array([[_finest(*each) for each in zip(evidence, codes.T, options, strict=True)]])
    extended = np.concatenate([codes, finest.astype(codes.dtype)])
    try:
        return Design.of(evidence, options, extended, pairs), extended
    except MissingPairsError:
        return Design.of(evidence, options, codes, pairs), codes


def _finest(evidence: AttributeEvidence, column: Codes, options: tuple[str, ...]) -> int:
    """The code, among those used, of the masking with the most masked values."""
    groups = {masking.id: masking.groups for masking in evidence.maskings} | {IDENTITY: evidence.values}
    finest: int = max(np.unique(column).tolist(), key=lambda code: groups.get(options[code], 0))
    return finest


def _less_bias(found: Traces, label_histogram: IntArray) -> FloatArray:
    classes, records = int(np.count_nonzero(label_histogram)) - 1, float(label_histogram.sum())
    each = zip(found.trace.tolist(), found.rank.tolist(), strict=True)
    return np.array([trace - trace_bias(trace, rank, classes, records) for trace, rank in each])
