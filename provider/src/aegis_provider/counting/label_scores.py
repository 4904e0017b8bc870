"""The scores of a label's classes: stated in the plan, or the middles of the bins of a number."""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import Counts
from aegis_provider.errors import PlanError, shortened
from aegis_provider.plan.model import Attribute, Plan
from aegis_provider.table.discretization import Binned, Bins, CutBins
from aegis_provider.table.reading import Reading
from aegis_provider.table.values import MISSING, Domain

_HALF: Final = Decimal("0.5")


def scores_of(counted: CountedTable, plan: Plan, label: str, histogram: Counts) -> dict[str, Any] | None:
    """Return the `scores` of a label for an entry, one for each value of its domain; `None` if it has none.

    Records without a number get the mean of the others, so that they neither help nor harm a prediction, as the lowest
    score and the distance from it to two digits: the exact mean would tell the number of records, and a sum of exact
    counts.

    Args:
        histogram: (values,) The records of each value of the label.

    Raises:
        PlanError: The plan's scores do not fit the label's values.
    """
    described = plan.described(label)
    if described is None or (described.discretization is None and described.scores is None):
        return None
    domain = counted.label if label == plan.label else counted.attribute(label).domain
    stated = _scores(counted.table.reading(label), described, domain, plan.source)
    known = {text: score for text, score in stated.items() if text != MISSING}
    if len(domain) - (MISSING in domain.places) != len(known):
        raise PlanError(
            f"{plan.source}: attributes.{label}: its values are merged ({shortened(domain.texts[-1])}), which no score "
            "is for; state fewer, larger bins under `discretize`"
        )
    values = np.array([known.get(text, np.nan) for text in domain.texts])
    held = ~np.isnan(values) & (histogram > 0)
    if held.any() and np.isnan(values).any():
        low = float(values[held].min())
        away = float(np.average(values[held] - low, weights=histogram[held]))
        values[np.isnan(values)] = float(Decimal(repr(low)) + Decimal(repr(to_two_digits(away, away))))
    values[np.isnan(values)] = 0.0
    variance = {} if described.variance is None else {"variance": described.variance}
    return {"values": [_plain(value) for value in values.tolist()], **variance}


def numbers_by_label(counted: CountedTable, plan: Plan) -> dict[str, FloatArray]:
    """Return the scores (values,) of each label that has some, by its name.

    Raises:
        PlanError: As for `scores_of`.
    """
    of_default = counted.attributes[0].counts.label_histogram()
    histograms = {name: counted.attribute(name).counts.histogram() for name in plan.other_labels}
    every = {name: scores_of(counted, plan, name, histograms.get(name, of_default)) for name in plan.labels}
    return {name: np.array(one["values"], dtype=np.float64) for name, one in every.items() if one is not None}


def scores_of_bins(reading: Reading, plan: Plan, domain: Domain, counts: Counts) -> FloatArray | None:
    """Return the scores (values,) of the default label's bins in some records, missing ones at the mean of the others.

    Args:
        counts: (values,) The records of each value.

    Returns:
        `None` if the label has no bins.
    """
    if plan.label_as is None or not plan.label_bins:
        return None
    known = _scores(reading, plan.label_as, domain, plan.source)
    scores = np.array([known.get(text, np.nan) for text in domain.texts])
    held = ~np.isnan(scores) & (counts > 0)
    return np.where(np.isnan(scores), np.average(scores[held], weights=counts[held]) if held.any() else 0.0, scores)


def _scores(reading: Reading, described: Attribute, domain: Domain, source: str) -> dict[str, float]:
    """Return the score of each value of the label."""
    stated = described.scores
    texts = [text for text in domain.texts if text != MISSING]
    if isinstance(reading, Binned):
        codes = {text: reading.key_of(text) for text in texts if text[:1] in {"[", "("} and "," in text}
        if stated is None:
            return {text: float(middle(reading.bins, code)) for text, code in codes.items()}
        return {text: stated[code] for text, code in codes.items()}
    if stated is None or len(stated) != len(texts):
        raise PlanError(
            f"{source}: attributes.{described.name}.scores: {len(stated or ())} scores are stated, but the label has "
            f"{len(texts)} values; give one for each, in the order of `order`"
        )
    return dict(zip(texts, stated, strict=True))


def middle(bins: Bins, code: int) -> Decimal:
    """Return the middle of a bin; of an open one, half the width of its neighbour away from its edge."""
    lower, upper = bins.bounds(code)
    if lower.is_finite() and upper.is_finite():
        return lower + (upper - lower) * _HALF
    inner = [edge for edge in (bins.edges if isinstance(bins, CutBins) else ()) if edge.is_finite()]
    if len(inner) < 2:  # noqa: PLR2004 - no neighbour with two ends
        return next(iter(inner), Decimal(0))
    if upper.is_finite():
        return upper - (inner[1] - inner[0]) * _HALF
    return lower + (inner[-1] - inner[-2]) * _HALF


def to_two_digits(mean: float, size: float) -> float:
    """Return a mean to the second digit of `size`, the mean of absolute values.

    Numbers of both signs can have a mean close to 0, whose own digits would tell the sum almost exactly.
    """
    return round(mean, 1 - math.floor(math.log10(size))) if size > 0 else 0.0


def _plain(value: float) -> int | float:
    return int(value) if value == int(value) else value


def middles(edges: Sequence[Decimal]) -> tuple[float, ...]:
    """Return the middle of every bin between these edges."""
    bins = CutBins(tuple(edges))
    return tuple(float(middle(bins, code)) for code in range(len(edges) - 1))
