"""Every entrant on every table: what its picks lose, how good its orders are, and how often it cannot decide."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from app.advisor.arrays import FloatArray
from bench.evaluation.losses import Estimate, correlations, lost, lost_in_split
from bench.evaluation.rankers import Entrant, Scores, entrants
from bench.evaluation.study import Study
from bench.evaluation.training import METRICS, MODELS, Results, train

PROCESSES = 2
SHORT_SPLITS = 2
IN_FULL = frozenset({"counts", "corrected", "published", "rivals"})

ByMetricAndModel = FloatArray
"""(metrics, models, splits)"""


@dataclass(frozen=True, eq=False)
class Effect:
    """What an entrant is worth on a table.

    Attributes:
        entrant: who ranks.
        scores: how.
        lost: (metrics, models, splits) against the best by mean over the splits.
        lost_in_split: the same against the best of the same split.
        correlation: (metrics, models, splits) Spearman's, of utilities and results.
    """

    entrant: Entrant
    scores: Scores
    lost: ByMetricAndModel
    lost_in_split: ByMetricAndModel
    correlation: ByMetricAndModel

    def loss(self, metric: str = "AUC", model: str | None = None) -> FloatArray:
        """(splits,) what the pick loses; the mean over the models, if none is named."""
        by_model = self.lost[METRICS.index(metric)]
        return by_model.mean(axis=0) if model is None else by_model[MODELS.index(model)]

    def loss_in_split(self, metric: str = "AUC") -> Estimate:
        """What the pick loses against the best of each split, mean over models."""
        return Estimate.of(self.lost_in_split[METRICS.index(metric)].mean(axis=0))

    def spearman(self, metric: str = "AUC") -> Estimate:
        """How well it orders the configurations, mean over models."""
        return Estimate.of(self.correlation[METRICS.index(metric)].mean(axis=0))


@dataclass(frozen=True, eq=False)
class Outcome:
    """A table, trained and ranked."""

    study: Study
    results: Results
    effects: tuple[Effect, ...]

    @cached_property
    def by_id(self) -> dict[str, Effect]:
        """The effect of each entrant."""
        return {effect.entrant.id: effect for effect in self.effects}

    @property
    def in_full(self) -> list[Effect]:
        """The effects of those that are told all counts and histograms, the published algorithm and the rivals."""
        return [effect for effect in self.effects if effect.entrant.group in IN_FULL]

    @property
    def auc(self) -> FloatArray:
        """(configurations,) the AUC, mean over models and splits."""
        return self.results.values[:, :, :, METRICS.index("AUC")].mean(axis=(1, 2))


def outcomes(studies: Iterable[Study], *, short: bool, kept: Path | None = None) -> list[Outcome]:
    """Train on every study in two processes (the short form: in a thread, which starts sooner), and ask everyone."""
    taking_part = list(entrants())
    splits = SHORT_SPLITS if short else None
    with ThreadPoolExecutor(1) if short else ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        return [outcome(study, train(study, pool, splits, kept), taking_part) for study in studies]


def outcome(study: Study, results: Results, taking_part: Sequence[Entrant]) -> Outcome:
    """Hold what everyone says of a study against the results of training."""
    return Outcome(study, results, tuple(_effect(entrant, entrant.scores(study), results) for entrant in taking_part))


def _effect(entrant: Entrant, scores: Scores, results: Results) -> Effect:
    def each(measured: Callable[[FloatArray, FloatArray], FloatArray], said: FloatArray) -> ByMetricAndModel:
        return np.array([[measured(results.of(model, metric), said) for model in MODELS] for metric in METRICS])

    return Effect(
        entrant,
        scores,
        lost=each(lost, scores.pick),
        lost_in_split=each(lost_in_split, scores.pick),
        correlation=each(correlations, scores.utilities),
    )
