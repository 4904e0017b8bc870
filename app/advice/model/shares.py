"""Shares of the attributes' utility that are kept, coarse enough for other tenants.

Each masking gets a word for its share: the part of the attribute's utility that it keeps. The share of a configuration
is computed from these words, so it reveals no more than they do, for any weights. `research.leakage` measures by
attacks how much they still reveal; this is the reason for few words and for only one measure.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.ranking import AttributeAssessment

#: The measure for shares. Each further one would give as many further equations for the same counts.
MEASURE = "mutual_information"

#: The words for shares up to each of these bounds, inclusive.
BANDS = {"none": 0.05, "little": 0.35, "some": 0.65, "much": 0.95, "all": 1.0}

#: The value of each word in the share of a configuration: the middle of its band, or an end of the scale.
MIDDLES = {"none": 0.0, "little": 0.2, "some": 0.5, "much": 0.8, "all": 1.0}

#: Shares are rounded to multiples of the first of these that is not below the standard error, before they get a word.
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)

#: The width without a known standard error.
UNKNOWN_ERROR = 0.1

#: Utilities of attributes are rounded to powers of this before they are weighed against each other.
GRID = 2.0

#: Utilities this close, relative to 1 or to the larger one, differ only by rounding.
_NOTHING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class AttributeShares:
    """The shares that the maskings of an attribute keep, independent of the rest of the question.

    Attributes:
        worth: the utility of the attribute in the measure's unit, rounded to a power of 2; 0 if it has none.
        kept: the word for the share that each masking keeps.
        steps: the width to which the share of each masking was rounded.
    """

    worth: float
    kept: Mapping[str, str]
    steps: Mapping[str, float]


def attribute_shares(assessment: AttributeAssessment) -> AttributeShares:
    """The shares of one attribute: 1 where nothing is lost, 0 where the masking is no better than dropping it."""
    worth, names = _worth(assessment), assessment.maskings
    if not worth:  # no utility to lose
        return AttributeShares(0.0, dict.fromkeys(names, "all"), dict.fromkeys(names, STEPS[0]))
    # By its own error only: otherwise requirements that exclude other maskings would change the rounding.
    steps = {name: _step(score.standard_error, worth) for name, score in names.items()}
    shares = {name: 1 - score.deviation / worth for name, score in names.items()}
    kept = {name: band(round(share / steps[name]) * steps[name]) for name, share in shares.items()}
    return AttributeShares(GRID ** round(math.log(worth, GRID)), kept, steps)


def _worth(assessment: AttributeAssessment) -> float:
    """The utility of the attribute beyond that of dropping it; 0 where the difference is rounding."""
    whole, without = assessment.reference_utility, assessment.drop_utility
    worth = abs(whole - without)
    return worth if worth > _NOTHING * max(1.0, abs(whole), abs(without)) else 0.0


def _step(error: float | None, worth: float) -> float:
    """The width of rounding for the standard error of a utility."""
    if error is None or math.isnan(error):
        return UNKNOWN_ERROR
    return next((step for step in STEPS if error / worth <= step * (1 + _NOTHING)), STEPS[-1])


def band(share: float) -> str:
    """The word for a share: none, little, some, much or all."""
    return next((word for word, most in BANDS.items() if share <= most + _NOTHING), "all")


def configuration_shares(
    attributes: Sequence[AttributeShares],
    weights: NDArray[np.float64],
    codes: NDArray[np.integer[Any]],
    options: Sequence[tuple[str, ...]],
) -> NDArray[np.float64]:
    """The share that each configuration keeps, (configurations,), to two digits.

    Args:
        attributes: the shares of the scored attributes.
        weights: (attributes,) of the question.
        codes: (configurations, attributes) indices into `options`.
        options: for each attribute the masking ids of the codes.
    """
    worth = weights * np.array([one.worth for one in attributes])
    if not worth.any():
        return np.ones(codes.shape[0])
    kept = np.zeros(codes.shape[0])
    for one, part, names, column in zip(attributes, worth / worth.sum(), options, codes.T, strict=True):
        kept += part * np.array([MIDDLES[one.kept[name]] if name in one.kept else math.nan for name in names])[column]
    return np.asarray(np.round(kept, 2))
