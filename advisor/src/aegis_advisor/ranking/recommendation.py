"""The question and the answer, as plain data that can be sent to another process.

Whether the evidence suffices: cheap checks before a question, and whether its ranking is exact.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.evidence import DROP, IDENTITY, AttributeEvidence, EvidenceFlags, MaskingFlags
from aegis_advisor.evidence.attribute import exact_counts
from aegis_advisor.joint import is_counted_function
from aegis_advisor.measures import Measure, measure_named
from aegis_advisor.ranking.deviation import AttributeAssessment

RankingBasis = Literal["exact", "estimated"]


def lacks_evidence(flags: EvidenceFlags) -> bool:
    """Whether no counts relate the attribute to the label, so that dropping it would seem to cost nothing.

    Then configurations that treat the attribute differently cannot be compared. Counts that cannot be traced to values
    never reach the reference, unless they are exact. Counts of a single group are the label's histogram. An attribute
    with one value, or a label with one class, has no association to lose.
    """
    if flags.has_joint or flags.values <= 1 or flags.labels <= 1:
        return False
    return not any(masking.informs for masking in flags.maskings)


def lacks_own_reference(used: Iterable[MaskingFlags]) -> bool:
    """Whether one of these maskings lacks the mapping or the exact counts that the reference `own` needs."""
    return not all(masking.constrains for masking in used)


def ranking_basis(
    evidence: Iterable[AttributeEvidence], measure: Measure, used: Iterable[Collection[str]]
) -> RankingBasis:
    """Decide whether the order by deviation is provably the order by the true deviation (the paper's equation 1).

    Per attribute, `used` has the maskings that any configuration uses; attributes without weight are left out. The
    order is exact if each attribute's contribution to the deviation of a configuration is right up to a constant. This
    is so in each of these cases, of which only the first applies to a measure that is not monotone:

    * All configurations treat the attribute alike. Then it adds a constant.
    * The unmasked counts are given. Then the reference utility is the true one, and so is the deviation of every
      masking with a known table: counted (even if it is not a function of the value), folded by its mapping, `identity`
      or `drop`. This covers all maskings except those with inexact counts and no mapping.
    * Only exact views are used and, if the label's histogram is certain, `drop`, but never `identity`. The truth is
      `|rho - rho_M|` and ours `|rho_ref - rho_M|`. Neither difference ever changes its sign (`assess`), so the two
      differ by a constant.

    If only some configurations use `identity`, the constant itself would be needed. A table folded from the reference
    is an estimate unless other counts determine it (`exact_counts`). Rounded counts are never the truth.
    """
    settled = (
        len(ids) == 1 or (measure.monotone and known.rounded_once is None and uses_exact_tables(known, ids))
        for known, ids in zip(evidence, used, strict=True)
    )
    return "exact" if all(settled) else "estimated"


def uses_exact_tables(evidence: AttributeEvidence, used: Collection[str]) -> bool:
    """Whether the tables of these maskings are certain, and the attribute is nowhere left as it is unless counted."""
    maskings = [evidence.masking(masking) for masking in used if masking not in {IDENTITY, DROP}]
    if evidence.joint is not None:
        return not any(masking.is_fitted and masking.mapping is None for masking in maskings)
    exact = all(exact_counts(evidence, masking) is not None for masking in maskings)
    return exact and IDENTITY not in used and (evidence.knows_label or DROP not in used)


def joint_ranking_basis(
    evidence: Iterable[AttributeEvidence], measure: Measure, used: Iterable[Collection[str]], *, exactly: bool
) -> RankingBasis:
    """Decide whether the order by a joint measure is provably the order by the true deviation.

    The utility of every configuration is that of its table. By a monotone measure the unmasked attributes have at least
    as much utility, if every masking is a function of the value. Then true deviations and ours differ by the same
    constant for all configurations.

    Args:
        evidence: the evidence on the attributes with weight.
        used: per attribute, the maskings that any configuration uses.
        exactly: whether every rounding error is within the tolerance for ties.
    """
    functions = (
        known.rounded_once is None and is_counted_function(known, masking)
        for known, ids in zip(evidence, used, strict=True)
        for masking in ids
    )
    return "exact" if measure.monotone and exactly and all(functions) else "estimated"


ReferenceSource = Literal["published", "known"]
"""The origin of a joint measure's reference: the published trace of the unmasked table, or the highest known
utility."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A consumer's question about an entry.

    Attributes:
        attributes: the selected attributes, in the order of the evidence.
        weights: (attributes,) non-negative, with the sum 1.
        reference: `pooled`, or `own` as in the paper.
        rounding_seed: the seed of the reference `own`; None does not round.
        limit: the number of rows of the ranking; None for all.
        bias_correction: whether to subtract the measure's bias in small samples, which must be known.
        has_errors: whether joint measures give the errors of utilities due to those of counts, 10 ms a row.
    """

    measure: str
    attributes: tuple[str, ...]
    weights: FloatArray
    reference: Literal["pooled", "own"] = "pooled"
    rounding_seed: int | None = None
    limit: int | None = None
    bias_correction: bool = False
    has_errors: bool = True

    def resolve(self, numbers: FloatArray | None = None) -> Measure:
        """Return the requested measure, given the scores (labels,) of the label's classes, if they have some.

        Raises:
            UnknownMeasureError: there is no such measure.
            ValueError: it has no such reference, or its bias is to be corrected but is not known.
        """
        measure = measure_named(self.measure).scored(numbers)
        if measure.is_joint and self.reference == "own":
            raise ValueError(f"the measure {self.measure} has no reference 'own'")
        return measure.corrected() if self.bias_correction else measure


@dataclass(frozen=True, slots=True, eq=False)
class RankedRows:
    """The best configurations in order. Arrays are (rows,).

    Attributes:
        standard_error: an upper bound of the standard error of that utility, since the dependence between attributes is
            unknown. For a joint measure, whose sampling error does not follow from pair counts, only the part due to
            declared errors of counts; NaN if there are none, and for rows after the first 200.
        difference_error: an upper bound of the standard error of the deviation minus that of the best. NaN for the
            reference `own`, whose deviations come from rounding, and for a joint measure.
    """

    index: IntArray
    deviation: FloatArray
    utility: FloatArray
    standard_error: FloatArray
    difference_error: FloatArray

    def __len__(self) -> int:
        return self.index.size

    def head(self, limit: int | None) -> "RankedRows":
        """The first rows; all of them without a limit."""
        return RankedRows(
            self.index[:limit],
            self.deviation[:limit],
            self.utility[:limit],
            self.standard_error[:limit],
            self.difference_error[:limit],
        )

    def __iter__(self) -> Iterator[tuple[int, float, float]]:
        return zip(self.index.tolist(), self.deviation.tolist(), self.utility.tolist(), strict=True)


@dataclass(frozen=True, slots=True)
class JointAssessment:
    """The joint measure of the attributes.

    Attributes:
        reference_utility: the utility relative to which deviations are measured.
        lower_bound: a lower bound of the true utility of the unmasked attributes together; None if nothing is certain.
        dimensions: the dimensions of the best configuration: masked values with records, minus one for each attribute,
            minus those that depend on others.
        interactions: the part of its utility due to interactions, which a linear model cannot use; None for a measure
            that does not see interactions.
        known_utility: the highest known utility, possibly an estimate.
        reference_source: the origin of the reference utility.
    """

    reference_utility: float
    lower_bound: float | None
    dimensions: int
    interactions: float | None
    known_utility: float
    reference_source: ReferenceSource


@dataclass(frozen=True, slots=True, eq=False)
class Recommendation:
    """The answer. Configurations are indices of rows of the codes.

    Attributes:
        best: the configuration to share, the first of those tied.
        tied: all configurations that tie for the smallest deviation, in order.
        ranking_basis: exact if the order is provably that of the true deviations, else estimated.
        ranking: the best rows, as many as requested.
        attributes: the assessment of each selected attribute, with the maskings that configurations use.
        indistinguishable: the first 10,000 configurations whose deviation is within 1.96 standard errors of the
            smallest, in order and including those tied; None for the reference `own` and for joint measures.
        indistinguishable_count: the number of all these configurations.
        joint: the joint assessment of several attributes; None for other questions.
    """

    best: int
    deviation: float
    tied: tuple[int, ...]
    considered: int
    ranking_basis: RankingBasis
    ranking: RankedRows
    attributes: tuple[AttributeAssessment, ...]
    indistinguishable: IntArray | None
    indistinguishable_count: int | None
    joint: JointAssessment | None
