"""The results of every entrant on every table: what its picks lose, how good its orders are, how often it ties."""

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from research.evaluation import synthetic_tables
from research.evaluation.rankers import Entrant, Scores, entrants
from research.losses import Estimate, correlations, lost, lost_in_split
from research.report import figure_of
from research.study import Study
from research.training import METRICS, MODELS, Results, sizes_of, train

PROCESSES = 2
SHORT_SPLITS = 2
IN_FULL = frozenset({"counts", "otherwise", "published", "rivals"})

JOINT = "joint, counts"
INTERACTIONS = "joint_interactions, counts"
MUTUAL_INFORMATION = "mutual_information, counts"
CORRECTED = "mutual_information, bias corrected"
CHI_SQUARE_CORRECTED = "chi_square, bias corrected"
G3 = "g3, counts"
PUBLISHED = "mutual_information, own"
RANDOM = "random choice"
VIEW = "sampling in a view"
LEADING = (JOINT, INTERACTIONS, MUTUAL_INFORMATION, G3, PUBLISHED, "Mascara", VIEW, "mRMR", RANDOM)
"""Shown in plots."""

LEVELS = (1.0, 2 / 3, 1 / 3)
"""The shares of the configurations, the most private ones, that the questions ask about."""

ByQuestion = FloatArray
"""(levels, metrics, models, splits)"""

Measured = Callable[[FloatArray, FloatArray], FloatArray]
"""From results (splits, configurations) and a ranker's output for the configurations, a number for each split."""


@dataclass(frozen=True, eq=False)
class Effect:
    """The performance of an entrant on a table; for one that draws at random, the mean over its draws.

    Attributes:
        entrant: the ranker.
        scores: its scores in the first draw.
        tested_per_trained: the number of records tested for each record trained on.
        tied: (levels,) how many configurations share the best utility in the first draw.
        picks: for each level, (configurations left,) the probability that each is picked.
        lost: (levels, metrics, models, splits) the loss against the best by mean over the splits.
        lost_in_split: the same against the best of the same split.
        correlation: (levels, metrics, models, splits) Spearman's correlation of utilities and results.
    """

    entrant: Entrant
    scores: Scores
    tested_per_trained: float
    tied: tuple[int, ...]
    picks: tuple[FloatArray, ...]
    lost: ByQuestion
    lost_in_split: ByQuestion
    correlation: ByQuestion

    def loss(self, metric: str = "AUC", model: str | None = None) -> FloatArray:
        """Return (splits,) what the pick loses, as a mean over the levels, and over the models if none is named."""
        by_model = self.lost[:, METRICS.index(metric)].mean(axis=0)
        return by_model.mean(axis=0) if model is None else by_model[MODELS.index(model)]

    def picks_as(self, other: "Effect") -> bool:
        """Return whether both pick the same in every question."""
        return all(map(np.array_equal, self.picks, other.picks))

    def estimate(self, values: FloatArray) -> Estimate:
        """Estimate the mean of values (splits,) measured on the splits of this table."""
        return Estimate.of(values, self.tested_per_trained)

    def mean_loss(self, metric: str = "AUC", model: str | None = None) -> Estimate:
        """Estimate what the pick loses on average over the splits (see `loss`)."""
        return self.estimate(self.loss(metric, model))

    def loss_in_split(self, metric: str = "AUC") -> Estimate:
        """Estimate what the pick loses against the best of each split, as a mean over levels and models."""
        return self.estimate(self.lost_in_split[:, METRICS.index(metric)].mean(axis=(0, 1)))

    def spearman(self, metric: str = "AUC") -> Estimate:
        """Estimate how well the ranker orders the configurations, as a mean over levels and models."""
        return self.estimate(self.correlation[:, METRICS.index(metric)].mean(axis=(0, 1)))


@dataclass(frozen=True, eq=False)
class Outcome:
    """A table with its training results and the effect of every entrant."""

    study: Study
    results: Results
    effects: tuple[Effect, ...]

    @cached_property
    def by_id(self) -> dict[str, Effect]:
        """The effect of each entrant by its id."""
        return {effect.entrant.id: effect for effect in self.effects}

    @property
    def splits(self) -> int:
        """The number of splits."""
        return self.results.values.shape[2]

    @property
    def in_full(self) -> list[Effect]:
        """The effects of entrants that get all counts and histograms, of the published algorithm, and of rivals."""
        return [effect for effect in self.effects if effect.entrant.group in IN_FULL]

    @property
    def auc(self) -> FloatArray:
        """(configurations,) the mean AUC over models and splits."""
        return self.results.values[:, :, :, METRICS.index("AUC")].mean(axis=(1, 2))


def outcomes(studies: Iterable[Study], *, short: bool, kept: Path | None = None) -> list[Outcome]:
    """Train on every study in two processes (in the short form one thread, which starts sooner), and rank."""
    taking_part = list(entrants())
    splits = SHORT_SPLITS if short else None
    with ThreadPoolExecutor(1) if short else ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        return [outcome(study, train(study, pool, splits, kept), taking_part) for study in studies]


def outcome(study: Study, results: Results, taking_part: Sequence[Entrant]) -> Outcome:
    """Compare every entrant's ranking of a study with the results of training."""
    return Outcome(study, results, tuple(_effect(study, entrant, results) for entrant in taking_part))


def levels(configurations: int) -> list[IntArray]:
    """Return the indices of the configurations that each level leaves; configurations are ordered by privacy."""
    return [np.arange(configurations - math.ceil(share * configurations - 1e-9), configurations) for share in LEVELS]


def _effect(study: Study, entrant: Entrant, results: Results) -> Effect:
    draws = [ranked(study) for ranked in (entrant.scores, *entrant.again)]
    asked = levels(len(study.configurations.ids))
    trained, tested = sizes_of(study.table.records)

    def mean(measured: Measured, said: Callable[[Scores, IntArray], FloatArray]) -> ByQuestion:
        each = [[_of_models(measured, results, places, said(one, places)) for places in asked] for one in draws]
        return np.mean(each, axis=0)

    return Effect(
        entrant,
        draws[0],
        tested / trained,
        tied=tuple(draws[0].tied(places) for places in asked),
        picks=tuple(np.mean([one.pick(places) for one in draws], axis=0) for places in asked),
        lost=mean(lost, Scores.pick),
        lost_in_split=mean(lost_in_split, Scores.pick),
        correlation=mean(correlations, lambda one, places: one.utilities[places]),
    )


def _of_models(measured: Measured, results: Results, places: IntArray, said: FloatArray) -> FloatArray:
    """Return (metrics, models, splits) a measurement of a pick or of utilities among some configurations."""
    return np.array([[measured(results.of(model, metric)[:, places], said) for model in MODELS] for metric in METRICS])


def leading(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Return the entrants that plots show: title by id."""
    return {name: outcomes[0].by_id[name].entrant.title for name in LEADING}


def real(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes of real tables."""
    return [each for each in outcomes if each.study.name not in synthetic_tables.NAMES]


def took_part(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes of real tables that took part in choosing the product's defaults."""
    return [each for each in real(outcomes) if not each.study.table.held_out]


def held_out(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes of real tables that had no part in any choice."""
    return [each for each in real(outcomes) if each.study.table.held_out]


def made_up(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes of made-up tables."""
    return [each for each in outcomes if each.study.name in synthetic_tables.NAMES]


def mean_loss(entrant: str, outcomes: Sequence[Outcome]) -> str:
    """Return the AUC that an entrant's pick loses, as a mean over tables."""
    return figure_of(float(np.mean([each.by_id[entrant].loss().mean() for each in outcomes])))


def worst_loss(entrant: str, outcomes: Sequence[Outcome]) -> str:
    """Return the AUC that an entrant's pick loses on its worst table."""
    return figure_of(max(float(each.by_id[entrant].loss().mean()) for each in outcomes))
