"""The whole question and the whole answer, as plain data that can be handed to another process."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.measures import Measure, measure_named
from aegis_advisor.ranking.deviation import AttributeAssessment
from aegis_advisor.ranking.sufficiency import RankingBasis


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What a consumer asks of an entry.

    Attributes:
        measure: its id.
        attributes: the selected ones, in the order of the evidence.
        weights: (attributes,) non-negative, adding up to 1.
        reference: pooled, or own as published.
        rounding_seed: of the reference `own`; None does not round.
        limit: rows of the ranking; None for all.
        bias_correction: take the measure less its bias in small samples, where that is known.
    """

    measure: str
    attributes: tuple[str, ...]
    weights: FloatArray
    reference: Literal["pooled", "own"] = "pooled"
    rounding_seed: int | None = None
    limit: int | None = None
    bias_correction: bool = False

    def resolve(self) -> Measure:
        """The measure that is asked for.

        Raises:
            UnknownMeasureError: there is none.
            ValueError: it has no such reference, or its bias is to be corrected and is not known.
        """
        measure = measure_named(self.measure)
        if measure.is_joint and self.reference == "own":
            raise ValueError(f"{self.measure} has no reference of each masking's own")
        return measure.corrected() if self.bias_correction else measure


@dataclass(frozen=True, slots=True, eq=False)
class RankedRows:
    """The best configurations in order. Arrays are (rows,).

    Attributes:
        index: the configurations.
        deviation: weighted mean deviation of each.
        utility: weighted mean utility of each.
        standard_error: of that utility, at most: how attributes go together is not known. Not a number for a joint
            measure, which pair counts do not tell the error of.
        difference_error: the standard error, at most, of the deviation less that of the best; not a number for the
            reference `own`, whose deviations are of rounding, and for a joint measure.
    """

    index: IntArray
    deviation: FloatArray
    utility: FloatArray
    standard_error: FloatArray
    difference_error: FloatArray

    def __len__(self) -> int:
        return self.index.size

    def __iter__(self) -> Iterator[tuple[int, float, float]]:
        return zip(self.index.tolist(), self.deviation.tolist(), self.utility.tolist(), strict=True)


@dataclass(frozen=True, slots=True)
class JointAssessment:
    """What a joint measure tells of the attributes together.

    Attributes:
        reference_utility: the most that is known of, be it an estimate: what deviations are measured from.
        lower_bound: the true utility of the unmasked attributes together is no less; None where nothing is certain.
        dimensions: of the best configuration: masked values with records, less one for each attribute, less those that
            depend on others.
    """

    reference_utility: float
    lower_bound: float | None
    dimensions: int


@dataclass(frozen=True, slots=True, eq=False)
class Recommendation:
    """The answer. Configurations are indices of rows of the codes.

    Attributes:
        best: the configuration to share, the first of those tied.
        deviation: its weighted mean deviation.
        tied: all configurations of the smallest deviation, in order.
        considered: how many there were.
        ranking_basis: exact where the order is provably that of the true deviations, else estimated.
        ranking: the best rows, as many as were asked for.
        attributes: each selected attribute, measured, with the maskings that configurations use.
        indistinguishable: those whose deviation is within 1.96 standard errors of the smallest, in order, those tied
            among them; the first 10,000, and None for the reference `own` and for joint measures.
        indistinguishable_count: how many there are.
        joint: what a joint measure tells of several attributes together; None for other questions.
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
