"""Whether the evidence suffices: cheap checks before a question, and whether its ranking is exact."""

from collections.abc import Collection, Iterable
from typing import Literal

from aegis_advisor.evidence import DROP, IDENTITY, AttributeEvidence, EvidenceFlags, MaskingFlags
from aegis_advisor.evidence.folding import exact_counts
from aegis_advisor.joint import is_counted_function
from aegis_advisor.measures import Measure

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
      masking with a known table: counted (even if it is no function of the value), folded by its mapping, `identity`
      or `drop`. This covers all maskings except those with inexact counts and no mapping.
    * Only exact views are used and, if the label's histogram is certain, `drop`, but never `identity`. The truth is
      `|rho - rho_M|` and ours `|rho_ref - rho_M|`. Neither difference ever changes its sign (`assess`), so the two
      differ by a constant.

    If only some configurations use `identity`, the constant itself would be needed. A table folded from the reference
    is an estimate unless other counts determine it (`exact_counts`). Rounded counts are never the truth.
    """
    settled = (
        len(ids) == 1 or (measure.monotone and known.rounded_once is None and _is_exact(known, ids))
        for known, ids in zip(evidence, used, strict=True)
    )
    return "exact" if all(settled) else "estimated"


def _is_exact(evidence: AttributeEvidence, used: Collection[str]) -> bool:
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
        measure: a joint measure.
        used: per attribute, the maskings that any configuration uses.
        exactly: whether every rounding error is within the tolerance for ties.
    """
    functions = (
        known.rounded_once is None and is_counted_function(known, masking)
        for known, ids in zip(evidence, used, strict=True)
        for masking in ids
    )
    return "exact" if measure.monotone and exactly and all(functions) else "estimated"
