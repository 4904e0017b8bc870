"""Section 4 of the paper: what its algorithm does, measured apart from any model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray, fold
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Question
from aegis_advisor.ranking.own_reference import rounded_own_reference
from aegis_advisor.reconstruction import Reference, reconstruct
from aegis_advisor.reconstruction.exact import share_out
from aegis_advisor.reconstruction.problem import Margin
from research.evaluation.rankers import RANKING, ask
from research.evaluation.reconstruction_distances import regrouped
from research.losses import correlations
from research.papers.accuracy import Accuracy, entrant
from research.papers.summaries import MEASURES as THREE
from research.study import Study, mapping_of
from research.training import MODELS

SEEDS = 200
"""How often the randomised rounding is repeated."""

NOTHING = 1e-9
"""A deviation that is none, over the measure's value for the unmasked attribute."""


@dataclass(frozen=True, eq=False)
class Algorithm:
    """What the algorithm does on one table.

    Attributes:
        none_deviates: by measure, the share of configurations whose deviation as published, without rounding, is 0.
        spread: by measure, the greatest less the least true deviation of the configurations, over the mean true value.
        follows: by measure, Spearman's correlation of the true deviation, its sign changed, with accuracy, as a mean
            over models and splits.
        empty: the share of cells of the true joint counts that are 0.
        folded: how many masked tables of all equal those counted from masked records, and how many there are.
        iterated: of attributes whose views overlap, the references with histograms and without.
    """

    study: Study
    none_deviates: dict[str, float]
    spread: dict[str, float]
    follows: dict[str, float]
    empty: float
    folded: tuple[int, int]
    iterated: tuple[tuple[Reference, Reference], ...]

    @classmethod
    def of(cls, trained: Accuracy) -> "Algorithm":
        """Measure one table."""
        study = trained.study
        deviations = {title: true_deviations(study, measure) for title, measure in THREE.items()}
        true = {title: _true_mean(study, measure) for title, measure in THREE.items()}
        return cls(
            study,
            {title: _none_deviates(study, measure) for title, measure in THREE.items()},
            {title: float(np.ptp(deviations[title])) / true[title] for title in THREE},
            {title: _follows(trained, deviations[title]) for title in THREE},
            float(np.mean(np.concatenate([truth.ravel() for truth in study.truths]) == 0)),
            _folded(study),
            tuple(_iterated(study)),
        )


def true_deviations(study: Study, measure: str) -> FloatArray:
    """Return (configurations,) the mean absolute difference of the measure, unmasked and masked, from true counts."""
    rho = MEASURES[measure]
    total = np.zeros(len(study.configurations.ids))
    for one, truth, options, codes in zip(
        study.evidence, study.truths, study.configurations.options, study.configurations.codes.T, strict=True
    ):
        used, place = np.unique(codes, return_inverse=True)
        unmasked = rho(truth.astype(np.float64))
        losses = [abs(unmasked - rho(_masked(one, truth, options[code]))) for code in used]
        total += np.array(losses)[place]
    return total / len(study.evidence)


def _masked(evidence: AttributeEvidence, truth: IntArray, masking: str) -> FloatArray:
    mapping = mapping_of(evidence, masking)
    return fold(truth.astype(np.float64), mapping, int(mapping.max()) + 1)


def _true_mean(study: Study, measure: str) -> float:
    return float(np.mean([MEASURES[measure](truth.astype(np.float64)) for truth in study.truths]))


def _none_deviates(study: Study, measure: str) -> float:
    """Return the share of configurations that lose nothing against reconstructions from their own counts."""
    weights = np.full(len(study.evidence), 1 / len(study.evidence))
    ranking = ask(study, Question(measure, study.attributes, weights, "own")).ranking
    return float(np.mean(np.abs(ranking.deviation) <= NOTHING * _true_mean(study, measure)))


def _follows(trained: Accuracy, deviations: FloatArray) -> float:
    return float(np.mean([correlations(trained.by_split(model), -deviations) for model in MODELS]))


def _folded(study: Study) -> tuple[int, int]:
    """Count the masked tables that follow from the unmasked one, compared with counts of masked records."""
    alike = total = 0
    for configuration in range(len(study.configurations.ids)):
        masked = study.masked(configuration)
        for column, one, truth, name in zip(
            masked.T, study.evidence, study.truths, study.maskings(configuration), strict=True
        ):
            folded = _masked(one, truth, name)
            counted = np.zeros_like(folded)
            np.add.at(counted, (column, study.classes), 1)
            alike, total = alike + np.array_equal(counted, folded), total + 1
    return alike, total


def _iterated(study: Study) -> Iterator[tuple[Reference, Reference]]:
    """Yield the references of attributes with overlapping views, which have to be iterated."""
    overlapping = regrouped(study)
    for one in () if overlapping is None else overlapping.evidence:
        yield reconstruct(one), reconstruct(replace(one, histogram=None))


def rounding_error(study: Study) -> float:
    """Return how far the mean of randomised rounding is from the fractions at the worst cell, in standard errors."""
    one = max(study.evidence, key=lambda each: each.values)
    masking = one.maskings[0]
    if masking.mapping is None or masking.joint is None or one.value_counts is None:
        raise AssertionError("a study publishes mappings, counts and histograms")
    joint = masking.joint.astype(np.float64)
    whole = Margin(np.arange(one.values), masking.mapping, joint)
    fractions = share_out(whole, one.value_counts.astype(np.float64))
    rounded = [rounded_own_reference(one, masking.mapping, joint, seed, masking.id) for seed in range(SEEDS)]
    part = fractions - np.floor(fractions)
    error = np.sqrt(np.maximum(part * (1 - part), 1e-12) / SEEDS)
    return float(np.max(np.abs(np.mean(rounded, axis=0) - fractions)[part > 0.05] / error[part > 0.05], initial=0.0))


def measures_that_rank(study: Study) -> tuple[int, int]:
    """Return how many of the product's measures give every configuration a number, and how many there are."""
    scores = [entrant(f"{measure.id}, counts").scores(study).utilities for measure in RANKING]
    return sum(bool(np.isfinite(each).all()) for each in scores), len(scores)


def private_places(study: Study, k: float) -> Sequence[int]:
    """Return the configurations that promise this k."""
    promised = study.configurations.privacy["k"]
    return np.flatnonzero(promised >= k).tolist()
