"""What other tenants learn of utilities: a coarse order of configurations, and coarse shares of attributes.

The order is by sums of rounded deviations.
Exact orders under many weights reveal the ratios of all deviations to any precision. Orders of rounded deviations
reveal no more than these, for any number of questions and any weights. The cost is small: the deviation of the best
configuration is at most one step above the least, apart from deviations too small to be rounded.

Each masking gets a word for its share: the part of the attribute's utility that it keeps. The share of a configuration
is computed from these words, so it reveals no more than they do, for any weights. `research.leakage` measures by
attacks how much they still reveal; this is the reason for few words and for only one measure.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.evidence import DROP, IDENTITY, AttributeEvidence
from aegis_advisor.expected import Expected
from aegis_advisor.ranking import MOST_LISTED, AttributeAssessment

#: Deviations in large entries are rounded to powers of 1 plus this.
STEP = 0.1

#: Those in small entries, with more sampling error, to powers of 1 plus this over the root of the records.
STEP_OF_ONE = 20.0

#: Deviations below this part of a step are 0, since tiny ones would almost be an equation; and the largest such bound.
LEAST, MOST_LEAST = 0.25, 0.75

#: Standard errors are rounded up to powers of this.
ERROR_GRID = 2.0

#: Deviations up to this are rounding errors.
TINY = 1e-9

#: 95 % of a normal distribution lie within this many standard deviations.
_TWO_SIDED = 1.96


#: Arrays (configurations,) where more is better; the first has priority. They must be as coarse as the order.
Preferences = Sequence[NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class CoarseOrder:
    """An order of all configurations, by their places.

    Attributes:
        order: (rows,) the best configurations, as many as requested.
        ranks: (rows,) from 1; equal deviations share a rank.
        tied: (ties,) those that share the first rank.
        within: (places,) those indistinguishable from the best; None if not known.
    """

    order: NDArray[np.intp]
    ranks: NDArray[np.intp]
    tied: NDArray[np.intp]
    within: NDArray[np.intp] | None


@dataclass(frozen=True, slots=True)
class Grid:
    """The grid for rounding deviations.

    Attributes:
        base: deviations are rounded to powers of this.
        least: the share of an attribute's utility below which deviations are 0.
    """

    base: float
    least: float

    @classmethod
    def of(cls, records: int) -> Self:
        """The grid of an entry with this number of records."""
        step = max(STEP, STEP_OF_ONE / math.sqrt(max(records, 1)))
        return cls(1 + step, min(MOST_LEAST, LEAST * step))

    def rounded(self, deviation: float, worth: float) -> float:
        """A deviation as a power of the base, or 0. `worth` is the attribute's utility, in the deviation's unit."""
        if math.isnan(deviation) or deviation <= max(self.least * worth, TINY):
            return 0.0
        return float(self.base ** round(math.log(deviation, self.base)))


def order_by_attribute(
    attributes: Sequence[AttributeAssessment],
    weights: NDArray[np.float64],
    codes: NDArray[np.integer[Any]],
    options: Sequence[tuple[str, ...]],
    limit: int | None,
    grid: Grid,
    preferences: Preferences = (),
) -> CoarseOrder:
    """The order by the weighted sum of each attribute's rounded deviations.

    Args:
        attributes: the assessments of the scored attributes, with the standard error of each masking.
        weights: (attributes,) of the question.
        codes: (configurations, attributes) indices into `options`.
        options: for each attribute the masking ids of the codes.
    """
    total, reach = np.zeros(codes.shape[0]), np.zeros(codes.shape[0])
    tables = [_Options.of(one, names, grid) for one, names in zip(attributes, options, strict=True)]
    for weight, table, column in zip(weights, tables, codes.T, strict=True):
        if weight > 0:
            total += weight * table.deviation[column]
    best = int(total.argmin())
    for weight, table, column in zip(weights, tables, codes.T, strict=True):
        if weight > 0:
            reach += weight * table.reach(column[best])[column]
    within = None if np.isinf(reach).any() else total - total[best] <= reach + 1e-9 * total.max()
    return _ordered(total, limit, within, preferences)


def order_of_all(
    deviations: NDArray[np.float64], worth: float, limit: int | None, grid: Grid, preferences: Preferences
) -> CoarseOrder:
    """The order by a joint measure.

    Args:
        deviations: (configurations,) of all: the best few alone would reveal their exact order.
        worth: the joint utility of the attributes.
    """
    values, places = np.unique(deviations, return_inverse=True)
    rounded = np.array([grid.rounded(one, worth) for one in values.tolist()])
    return _ordered(rounded[places], limit, None, preferences)


def detail_kept(
    evidence: Sequence[AttributeEvidence],
    weights: NDArray[np.float64],
    codes: NDArray[np.integer[Any]],
    options: Sequence[tuple[str, ...]],
) -> NDArray[np.float64]:
    """(configurations,) the number of distinguished values, from the schema: a weighted sum of logarithms."""
    detail = np.zeros(codes.shape[0])
    for one, weight, names, column in zip(evidence, weights, options, codes.T, strict=True):
        sizes = {IDENTITY: one.values, DROP: 1} | {masking.id: masking.groups for masking in one.maskings}
        detail += weight * np.log([max(1, sizes[name]) for name in names])[column]
    return detail


@dataclass(frozen=True, slots=True, eq=False)
class _Options:
    """The coarse data on the options of an attribute. Arrays are (options,), with NaN for unused options.

    Attributes:
        deviation: the rounded deviation.
        error: the standard error, rounded up; infinite if not known.
        bias: the sampling bias in favour of the option, rounded up: upwards or, for measures where less is better,
            downwards.
    """

    deviation: NDArray[np.float64]
    error: NDArray[np.float64]
    bias: NDArray[np.float64]

    @classmethod
    def of(cls, assessment: AttributeAssessment, names: Sequence[str], grid: Grid) -> Self:
        """Round an assessment of the options."""
        deviation, error, bias = np.full((3, len(names)), math.nan)
        worth = abs(assessment.reference_utility - assessment.drop_utility)
        for place, name in enumerate(names):
            if name in assessment.maskings:
                score = assessment.maskings[name]
                deviation[place] = grid.rounded(score.deviation, worth)
                error[place] = _rounded_up(score.standard_error)
                bias[place] = _rounded_up(abs(score.bias or 0.0))
        return cls(deviation, error, bias)

    def reach(self, best: int) -> NDArray[np.float64]:
        """(options,) The excess over the deviation of the best one that sampling error explains."""
        # The bias of others was rounded up, so it may be half as large.
        by_chance = np.maximum(0.0, self.bias[best] - self.bias / ERROR_GRID)
        reach = _TWO_SIDED * (self.error + self.error[best]) + by_chance
        reach[best] = 0.0
        return np.asarray(reach)


def _rounded_up(error: float | None) -> float:
    if error is None or math.isnan(error):
        return math.inf  # nothing is distinguishable from it
    return 0.0 if error <= 0 else float(ERROR_GRID ** math.ceil(math.log(error, ERROR_GRID)))


def _ordered(
    total: NDArray[np.float64], limit: int | None, within: NDArray[np.bool_] | None, preferences: Preferences
) -> CoarseOrder:
    """Configurations by ascending deviation; those equal up to the last digits by preference."""
    # Sums of the same terms in another order differ in the last digits.
    level = np.round(total / (total.max() or 1.0), 9)
    order = np.lexsort([-one for one in reversed(preferences)] + [level])
    first = np.searchsorted(level[order], level[order[:limit]], side="left")
    near = None if within is None else order[within[order]]
    return CoarseOrder(order[:limit], first + 1, order[level[order] == level[order[0]]], near)


def in_contract(
    order: CoarseOrder, ids: Sequence[str], shares: NDArray[np.float64] | None, kinds: Sequence[str] | None = None
) -> dict[str, Any]:
    """The members of an answer with the order, in the contract's names. `shares` and `kinds`: (rows,), if any."""
    kept = [None] * order.order.size if shares is None else shares.tolist()
    named = [{"configuration": ids[place]} for place in order.order.tolist()]
    if kinds is not None:
        named = [row | {"kind": kind} for row, kind in zip(named, kinds, strict=True)]
    return {
        "configuration": ids[order.tied[0]],
        "tied": [ids[place] for place in order.tied[:MOST_LISTED]],
        "indistinguishable": None if order.within is None else [ids[place] for place in order.within[:MOST_LISTED]],
        "indistinguishable_count": None if order.within is None else order.within.size,
        "ranking": [
            {
                **row,
                "rank": rank,
                "utility_share": share,
                "deviation_share": None if share is None else round(1 - share, 2),
            }
            for row, rank, share in zip(named, order.ranks.tolist(), kept, strict=True)
        ],
    }


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


def expected_numbers(expected: Expected, *, is_coarse: bool = False) -> dict[str, float | None]:
    """What a model should reach, in the contract's names; to two digits if coarse."""
    return asdict(expected.in_two_digits if is_coarse else expected)
