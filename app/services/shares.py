"""How much of what the attributes tell is kept: in shares that are coarse enough to be shown to other tenants.

A share is 1 where nothing is lost and 0 where the attribute might as well be dropped. The shares of a configuration
come from the rounded shares of its maskings alone, so they say no more than these do, whatever the weights.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.ranking import AttributeAssessment, Recommendation

#: Widths of rounding: a share is rounded to a multiple of the first one that its standard error does not exceed.
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)

#: The width where no standard error is known, as for measures of all attributes together.
UNKNOWN_ERROR = 0.1

#: What a share is called up to each of these bounds, the bound included.
BANDS = {"none": 0.05, "little": 0.35, "some": 0.65, "much": 0.95, "all": 1.0}

#: Utilities that are this close, relative to 1 or to the larger one, differ by rounding.
_NOTHING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class AttributeShares:
    """What the maskings of an attribute keep of it.

    Attributes:
        worth: what the attribute tells, as a share of what all attributes of the question tell; a multiple of 0.01.
        kept: by masking the share of that which is kept, rounded.
        step: the width of that rounding.
    """

    worth: float
    kept: Mapping[str, float]
    step: float


def attribute_shares(assessments: Sequence[AttributeAssessment]) -> list[AttributeShares]:
    """The shares of each attribute of a question, in its order."""
    worth = [_worth(one) for one in assessments]
    total = sum(worth) or 1.0
    return [_shares(one, max(0.01, round(own / total, 2)), own) for one, own in zip(assessments, worth, strict=True)]


def _worth(assessment: AttributeAssessment) -> float:
    """What the attribute tells beyond what is known without it; 0 where that is rounding."""
    whole, without = assessment.reference_utility, assessment.drop_utility
    worth = abs(whole - without)
    return worth if worth > _NOTHING * max(1.0, abs(whole), abs(without)) else 0.0


def _shares(assessment: AttributeAssessment, part: float, worth: float) -> AttributeShares:
    """Where the attribute tells nothing, nothing can be lost."""
    if not worth:
        return AttributeShares(part, dict.fromkeys(assessment.maskings, 1.0), STEPS[0])
    errors = [score.standard_error for score in assessment.maskings.values()]
    largest = None if None in errors else max((error for error in errors if error is not None), default=None)
    step = _step(None if largest is None else largest / worth)
    kept = {name: _rounded(1 - score.deviation / worth, step) for name, score in assessment.maskings.items()}
    return AttributeShares(part, kept, step)


def configuration_shares(
    recommendation: Recommendation,
    attributes: Sequence[AttributeShares],
    weights: NDArray[np.float64],
    codes: NDArray[np.integer[Any]],
    options: Sequence[tuple[str, ...]],
) -> NDArray[np.float64]:
    """The share that each row of the ranking keeps, (rows,), never more than the row before.

    Args:
        recommendation: the answer.
        attributes: the shares of its attributes.
        weights: (attributes,) of the question.
        codes: (rows, attributes) of the ranked configurations, indices into `options`.
        options: for each attribute the masking ids that codes stand for.
    """
    if recommendation.joint is not None:
        return _joint_shares(recommendation)
    worth = weights * np.array([one.worth for one in attributes])
    kept = np.zeros(codes.shape[0])
    for one, share, names, column in zip(attributes, worth, options, codes.T, strict=True):
        kept += share * np.array([one.kept.get(name, math.nan) for name in names])[column]
    step = _step(float(worth @ [one.step for one in attributes]) / worth.sum())
    return _falling(kept / worth.sum(), step)


def _joint_shares(recommendation: Recommendation) -> NDArray[np.float64]:
    joint, utility = recommendation.joint, recommendation.ranking.utility
    if joint is None or joint.reference_utility <= _NOTHING:
        return np.ones(utility.size)
    return _falling(utility / joint.reference_utility, UNKNOWN_ERROR)


def band(share: float) -> str:
    """The word for a share: none, little, some, much or all."""
    return next(word for word, most in BANDS.items() if share <= most)


def _step(error: float | None) -> float:
    """The width of rounding that a standard error justifies."""
    if error is None or math.isnan(error):
        return UNKNOWN_ERROR
    return next((step for step in STEPS if error <= step * (1 + _NOTHING)), STEPS[-1])


def _rounded(share: float, step: float) -> float:
    """A share as a multiple of `step`, from 0 to 1."""
    return float(np.clip(np.round(np.round(share / step) * step, 2), 0.0, 1.0))


def _falling(shares: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Rounded shares of a ranking: rounding must not turn its order round."""
    rounded = np.clip(np.round(np.round(shares / step) * step, 2), 0.0, 1.0)
    return np.asarray(np.minimum.accumulate(rounded))
