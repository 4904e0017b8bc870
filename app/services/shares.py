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

#: What attributes tell is rounded to powers of this before they are weighed against each other.
GRID = 1.1

#: What a share is called up to each of these bounds, the bound included.
BANDS = {"none": 0.05, "little": 0.35, "some": 0.65, "much": 0.95, "all": 1.0}

#: Utilities that are this close, relative to 1 or to the larger one, differ by rounding.
_NOTHING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class AttributeShares:
    """What the maskings of an attribute keep of it. Nothing here depends on the rest of the question.

    Attributes:
        worth: what the attribute tells, in the measure's unit, rounded to a power of 1.1; 0 if it tells nothing.
        kept: by masking the share of that which is kept, rounded.
        step: the largest width of that rounding.
    """

    worth: float
    kept: Mapping[str, float]
    step: float


def attribute_shares(assessment: AttributeAssessment) -> AttributeShares:
    """The shares of one attribute."""
    worth = _worth(assessment)
    steps, kept = [STEPS[0]], {}
    for name, score in assessment.maskings.items():
        if worth:
            # By its own error alone: otherwise a requirement that leaves other maskings out would round it anew.
            steps.append(_step(None if score.standard_error is None else score.standard_error / worth))
            kept[name] = float(_rounded(np.float64(1 - score.deviation / worth), steps[-1]))
        else:  # there is nothing to lose
            kept[name] = 1.0
    return AttributeShares(GRID ** round(math.log(worth, GRID)) if worth else 0.0, kept, max(steps))


def _worth(assessment: AttributeAssessment) -> float:
    """What the attribute tells beyond what is known without it; 0 where that is rounding."""
    whole, without = assessment.reference_utility, assessment.drop_utility
    worth = abs(whole - without)
    return worth if worth > _NOTHING * max(1.0, abs(whole), abs(without)) else 0.0


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
    if not worth.any():
        return np.ones(codes.shape[0])
    kept = np.zeros(codes.shape[0])
    for one, part, names, column in zip(attributes, worth / worth.sum(), options, codes.T, strict=True):
        kept += part * np.array([one.kept.get(name, math.nan) for name in names])[column]
    step = _step(float(worth @ [one.step for one in attributes] / worth.sum()))
    return _falling(kept, step)


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


def _rounded(shares: NDArray[np.float64] | np.float64, step: float) -> NDArray[np.float64]:
    """Shares as multiples of `step`, from 0 to 1."""
    return np.asarray(np.clip(np.round(np.round(shares / step) * step, 2), 0.0, 1.0) + 0.0)


def _falling(shares: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Rounded shares of a ranking: rounding must not turn its order round."""
    return np.asarray(np.minimum.accumulate(_rounded(shares, step)))
