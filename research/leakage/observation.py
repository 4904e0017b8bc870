"""What others can learn from all answers together, at most.

A word for each masking, every rounded deviation, and what models should reach with one attribute.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Self

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.evidence import IDENTITY
from aegis_advisor.ranking import AttributeAssessment, Question, expected_performance, recommend
from aegis_advisor.reconstruction import Reference, reconstruct
from app.advice.service import coarse as shares
from app.advice.service.coarse import Grid
from research.leakage.target import HiddenAttribute, Target
from research.leakage.utilities import HIGHER_IS_BETTER

WITH_SHARES = list(HIGHER_IS_BETTER).index(shares.MEASURE)
"""The place of the measure that has shares."""


@dataclass(frozen=True, eq=False)
class Observation:
    """What the answers tell. Options are the maskings of an attribute, after dropping it.

    Attributes:
        low: per attribute (options,) the least share that an option can keep.
        high: the largest share.
        magnitude: (attributes,) the power of `shares.GRID` that an attribute's utility is rounded to; NaN if it tells
            nothing. The attacker learns only differences between attributes.
        levels: (measures, options of all attributes) the power of `Target.grid` that a deviation is rounded to;
            NaN if it is 0. The attacker learns differences within a measure only.
        expected: per attribute (2, options) the AUC and the accuracy, to two digits, of a model with it alone.
    """

    low: Sequence[FloatArray]
    high: Sequence[FloatArray]
    magnitude: FloatArray
    levels: FloatArray
    expected: Sequence[FloatArray]

    @classmethod
    def of(cls, target: Target) -> Self:
        """Assess each attribute with the real advisor, and round with the service's own functions.

        Shares of configurations are computed from the words of their maskings and the rounded worth of attributes, and
        the order from rounded deviations. No number of questions tells more than these, so the attacker is given them.
        """
        references = [reconstruct(one.evidence) for one in target.attributes]
        assessed = [_assessed(target, references, measure) for measure in HIGHER_IS_BETTER]
        kept = [shares.attribute_shares(one) for one in assessed[WITH_SHARES]]
        intervals = [_intervals(one, names) for one, names in zip(kept, target.options, strict=True)]
        return cls(
            [low for low, _ in intervals],
            [high for _, high in intervals],
            np.array([_power(one.worth, shares.GRID) for one in kept]),
            np.array([np.concatenate([*map(_levels, row, target.options, repeat(target.grid))]) for row in assessed]),
            [_expected(*one) for one in zip(target.attributes, references, target.options, strict=True)],
        )


def _expected(attribute: HiddenAttribute, reference: Reference, names: tuple[str, ...]) -> FloatArray:
    """(2, options) what the answers say of configurations that share one attribute only."""
    codes = np.arange(len(names))[:, np.newaxis]
    options = [(*names, IDENTITY)]
    told, _ = expected_performance([attribute.evidence], [reference], options, codes, (), np.ones(1))
    coarse = [None if one is None else one.in_two_digits for one in told]
    return np.array([(np.nan,) * 2 if one is None else (one.auc, one.accuracy) for one in coarse]).T


def _assessed(target: Target, references: Sequence[Reference], measure: str) -> Sequence[AttributeAssessment]:
    """The attributes as the service assesses them to answer a question."""
    names = tuple(one.evidence.name for one in target.attributes)
    weights = np.full(len(names), 1 / len(names))
    question = Question(measure.rstrip("*"), names, weights, bias_correction=measure.endswith("*"))
    evidence = [one.evidence for one in target.attributes]
    return recommend(evidence, references, target.codes, target.options, question).attributes


def _intervals(kept: shares.AttributeShares, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """(options,) between what the shares lie that have these words."""
    ends = [_interval(kept.kept[name], kept.steps[name]) if name in kept.kept else (-np.inf, np.inf) for name in names]
    low, high = np.array(ends).T
    return low, high


def _interval(word: str, step: float) -> tuple[float, float]:
    """The ends of the scale include everything beyond. That the attacker knows the step is a favour."""
    rounded = np.arange(0.0, 1.0 + step / 2, step)
    named = [share for share in rounded if shares.band(share) == word]
    low, high = min(named) - step / 2, max(named) + step / 2
    return (-np.inf if min(named) <= 0 else low, np.inf if max(named) + step > 1 else high)


def _levels(assessment: AttributeAssessment, names: Sequence[str], grid: Grid) -> FloatArray:
    """(options,) the power that each deviation is rounded to."""
    worth, maskings = abs(assessment.reference_utility - assessment.drop_utility), assessment.maskings
    used = [maskings[name].deviation if name in maskings else 0.0 for name in names]
    return np.array([_power(grid.rounded(one, worth), grid.base) for one in used])


def _power(rounded: float, base: float) -> float:
    return round(np.log(rounded) / np.log(base)) if rounded else np.nan
