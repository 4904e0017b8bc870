"""What other tenants can learn from all answers together, at most: rounded shares, and the order under many weights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.ranking import Question, Recommendation, recommend
from aegis_advisor.reconstruction import Reference, reconstruct
from app.services.shares import GRID, MEASURE, AttributeShares, attribute_shares, band
from app.services.views import COARSE_WEIGHTS
from bench.quality.leakage.target import Target
from bench.quality.leakage.utilities import HIGHER_IS_BETTER

_WITH_SHARES = list(HIGHER_IS_BETTER).index(MEASURE)


@dataclass(frozen=True, eq=False)
class Observation:
    """What the answers tell: words by the one measure that has shares, and the order by every measure.

    Attributes:
        low: per attribute (options,) the least share that an option can keep.
        high: the largest share.
        magnitude: (attributes,) the power of `GRID` that an attribute's utility is rounded to; NaN if it tells nothing.
            The attacker learns differences between attributes only.
        order: per measure (inequalities, options of all attributes): each row times the deviations is at least 0.
    """

    low: Sequence[FloatArray]
    high: Sequence[FloatArray]
    magnitude: FloatArray
    order: Sequence[FloatArray]

    @classmethod
    def of(cls, target: Target, questions: int, rng: np.random.Generator) -> Self:
        """Ask everything that may be asked, of the real advisor, with the real rounding.

        Shares of configurations are computed from the words of their maskings and the rounded worth of attributes
        (`app.services.shares`). No set of answers tells more of values than these, so the attacker is given them.

        Args:
            target: the entry.
            questions: the number of distinct questions over all measures.
            rng: draws their weights.
        """
        references = [reconstruct(one.evidence) for one in target.attributes]
        weights = [_weights(target, max(1, questions // len(HIGHER_IS_BETTER)), rng) for _ in HIGHER_IS_BETTER]
        answers = [
            [_asked(target, references, measure, row) for row in rows]
            for measure, rows in zip(HIGHER_IS_BETTER, weights, strict=True)
        ]
        shares = [attribute_shares(one) for one in answers[_WITH_SHARES][0].attributes]
        intervals = [_intervals(target, place, one) for place, one in enumerate(shares)]
        return cls(
            [low for low, _ in intervals],
            [high for _, high in intervals],
            np.array([_magnitude(one) for one in shares]),
            [_inequalities(target, *each) for each in zip(weights, answers, strict=True)],
        )


def _asked(target: Target, references: Sequence[Reference], measure: str, weights: FloatArray) -> Recommendation:
    names = tuple(one.evidence.name for one in target.attributes)
    question = Question(measure.rstrip("*"), names, weights / weights.sum(), bias_correction=measure.endswith("*"))
    return recommend([one.evidence for one in target.attributes], references, target.codes, target.options, question)


def _weights(target: Target, questions: int, rng: np.random.Generator) -> FloatArray:
    """(questions, attributes) distinct weights, at least two of them not 0, the first all 1."""
    size = len(target.attributes)
    drawn = rng.choice(np.array(COARSE_WEIGHTS), size=(20 * questions, size))
    allowed = drawn[(drawn > 0).sum(axis=1) >= min(2, size)]
    ratios = np.unique(allowed / allowed.max(axis=1, keepdims=True), axis=0)
    rng.shuffle(ratios)
    return np.vstack([np.ones(size), ratios[: questions - 1]])


def _intervals(target: Target, place: int, shares: AttributeShares) -> tuple[FloatArray, FloatArray]:
    """(options,) between what the shares lie that have these words."""
    ends = [
        _interval(shares.kept[name], shares.steps[name]) if name in shares.kept else (-np.inf, np.inf)
        for name in target.options[place]
    ]
    low, high = np.array(ends).T
    return low, high


def _interval(word: str, step: float) -> tuple[float, float]:
    """The ends of the scale include everything beyond. That the attacker knows the step is a favour."""
    rounded = np.arange(0.0, 1.0 + step / 2, step)
    named = [share for share in rounded if band(share) == word]
    low, high = min(named) - step / 2, max(named) + step / 2
    return (-np.inf if min(named) <= 0 else low, np.inf if max(named) + step > 1 else high)


def _magnitude(shares: AttributeShares) -> float:
    return round(np.log(shares.worth) / np.log(GRID)) if shares.worth else np.nan


def _inequalities(target: Target, weights: FloatArray, answers: Sequence[Recommendation]) -> FloatArray:
    """Each row of a ranking deviates at least as much as the row before; rows that tie deviate equally."""
    rows = [row for each, answer in zip(weights, answers, strict=True) for row in _steps(target, each, answer)]
    scaled = np.array(rows) / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-300)
    return np.unique(np.round(scaled, 12), axis=0)


def _steps(target: Target, weights: FloatArray, answer: Recommendation) -> Iterator[FloatArray]:
    parts = zip(weights, target.options, target.codes.T, strict=True)
    used = np.hstack([weight * np.eye(len(options))[codes] for weight, options, codes in parts])
    tied = set(answer.tied)
    for before, after in pairwise(answer.ranking.index.tolist()):
        yield used[after] - used[before]
        if after in tied:
            yield used[before] - used[after]
