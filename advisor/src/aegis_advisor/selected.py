"""One attribute that a question selects: its evidence, its reference and the maskings that configurations use."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.blocks import CodeBlocks
from aegis_advisor.deviation import AttributeAssessment, assess
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.measures import Measure
from aegis_advisor.own import assess_own
from aegis_advisor.recommendation import Question
from aegis_advisor.reconstruction import Reference
from aegis_advisor.sampling import Errors, Sample, influences


@dataclass(frozen=True, slots=True, eq=False)
class Selected:
    """One selected attribute: what is known of it, its options, and those that configurations use."""

    evidence: AttributeEvidence
    reference: Reference
    options: tuple[str, ...]
    used: tuple[str, ...]

    @classmethod
    def all_of(
        cls,
        evidence: Sequence[AttributeEvidence],
        references: Sequence[Reference],
        options: Sequence[tuple[str, ...]],
        blocks: CodeBlocks,
    ) -> "list[Selected]":
        """Those of a question, in its order."""
        return [cls(*parts) for parts in zip(evidence, references, options, _used(blocks, options), strict=True)]

    def assess(self, measure: Measure, question: Question, *, counts: bool) -> AttributeAssessment:
        """Measure it. What does not count is only described, and may lack what the reference `own` needs."""
        if question.reference == "own" and counts:
            return assess_own(self.evidence, self.reference, measure, self.used, question.rounding_seed)
        return assess(self.evidence, self.reference, measure, self.used)

    def errors(self, measure: Measure, found: AttributeAssessment) -> Errors:
        """How the utilities of its maskings vary, the records being a sample."""
        sample = Sample.of(self.evidence, self.reference, measure)
        return Errors.of(
            measure, sample, influences(self.evidence, sample, measure, self.used, found.reference_utility), found
        )

    def by_code(self, found: AttributeAssessment, what: Literal["deviation", "utility"]) -> FloatArray:
        """Deviation or utility by code (options,); options that no configuration uses are not a number."""
        table = np.full(len(self.options), np.nan)
        for code, option in enumerate(self.options):
            if option in found.maskings:
                table[code] = getattr(found.maskings[option], what)
        return table

    def with_errors(self, found: AttributeAssessment, moves: FloatArray) -> AttributeAssessment:
        """The same with the standard error of each masking's utility, from the vectors (options, n) of the options."""
        errors = dict(zip(self.options, np.linalg.norm(moves, axis=-1).tolist(), strict=True))
        maskings = {one: replace(score, standard_error=errors[one]) for one, score in found.maskings.items()}
        return replace(found, maskings=maskings)


def _used(blocks: CodeBlocks, options: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Per attribute the options that configurations use, in the order of the options."""
    return [
        tuple(option for option, is_used in zip(names, used, strict=True) if is_used)
        for names, used in zip(options, blocks.used(), strict=True)
    ]
