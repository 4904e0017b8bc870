"""Rounded counts in comparisons: maskings that are equally good are not told apart, and real differences are seen.

In the populations fine values tell as much of the label as the coarse groups they are in, or have a quarter of their
own.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Question, recommend
from aegis_advisor.reconstruction import reconstruct
from tests.advisor.cases import evidence_of, mapped
from tests.advisor.rounded_samples import Population
from tests.for_each import for_each

SHORT = ("mutual_information", "chi_square", "jensen_shannon")
LONG = (*SHORT, "theils_u", "goodman_kruskal_tau", "g3", "goodman_kruskal_lambda", "cramers_v", "joint")


def told_apart(population, samples, measures, *, exact=False):
    """How often each measure leaves one of the two maskings out of those that cannot be told from the best."""
    rng, apart = np.random.default_rng(1), dict.fromkeys(measures, 0)
    for _ in range(samples):
        table, rounded = population.drawn(rng, population.base)
        known = population.evidence(table) if exact else population.evidence(rounded, population.base)
        reference, codes, options = reconstruct(known), np.array([[0], [1]]), [("fine", "coarse")]
        for measure in measures:
            question = Question(measure, ("a",), np.ones(1), bias_correction=False)
            apart[measure] += recommend([known], [reference], codes, options, question).indistinguishable_count < 2
    return {measure: count / samples for measure, count in apart.items()}


def test_an_equally_good_masking_is_not_left_out():
    """Where rounding was taken for information, all three measures left the coarse one out in 90 to 100 %."""
    apart = told_apart(Population(8_000, values=100, groups=5, labels=3, skew=1.0), 100, SHORT)
    assert max(apart.values()) <= 0.08


def test_a_real_difference_is_seen():
    apart = told_apart(Population(8_000, values=100, groups=5, labels=3, skew=1.0, own=0.25), 8, SHORT)
    assert min(apart.values()) >= 0.8


@pytest.mark.long
@for_each(
    "population",
    [
        Population(8_000, values=100, groups=5, labels=3, skew=1.0, seed=6),
        Population(8_000, values=30, groups=4, labels=3, skew=1.0),
        Population(20_000, values=100, groups=6, labels=2, skew=1.2),
        Population(3_000, values=60, groups=5, labels=5, skew=0.5),
        Population(1_000, values=100, groups=5, labels=3, skew=1.0),
    ],
)
def test_no_measure_leaves_an_equally_good_masking_out(population):
    apart = told_apart(population, 26, LONG)
    assert max(apart.values()) <= 0.08, apart


@pytest.mark.long
@for_each(
    "population",
    [
        Population(8_000, values=100, groups=5, labels=3, skew=1.0, own=0.25, seed=6),
        Population(8_000, values=30, groups=4, labels=3, skew=1.0, own=0.25),
        Population(20_000, values=100, groups=6, labels=2, skew=1.2, own=0.25),
        Population(3_000, values=60, groups=5, labels=5, skew=0.5, own=0.25),
    ],
)
def test_real_differences_are_seen_nearly_as_often_as_in_exact_counts(population):
    measures = (*SHORT, "goodman_kruskal_tau")
    seen = told_apart(population, 40, measures)
    possible = told_apart(population, 40, measures, exact=True)
    assert all(seen[measure] >= 0.8 * possible[measure] for measure in measures), (seen, possible)


def test_the_order_is_nearer_to_that_of_a_large_sample():
    """Only some attributes tell more by their fine values; in rounded counts as they stand, all seem to."""
    rng, measure = np.random.default_rng(7), MEASURES["mutual_information"]
    attributes = [
        Population(8_000, values, groups, 3, skew=1.0, own=own, seed=seed)
        for seed, (values, groups, own) in enumerate(
            [(60, 12, 0), (150, 4, 0), (40, 8, 0.5), (200, 20, 0), (100, 5, 0.3)]
        )
    ]
    plain, answered, true = [], [], []
    for one in attributes:
        _, rounded = one.drawn(rng, 5)
        views = [mapped(name, each, rounded) for name, each in mappings(one).items()]
        known = replace(evidence_of(rounded, views, histogram=False), rounded_once=5)
        codes = np.arange(len(views))[:, np.newaxis]
        question = Question(measure.id, ("a",), np.ones(1), bias_correction=False)
        answer = recommend([known], [reconstruct(known)], codes, [tuple(mappings(one))], question)
        answered += [answer.attributes[0].maskings[name].utility for name in mappings(one)]
        plain += [measure(view.joint.astype(float)) for view in views]
        large = rng.multinomial(10**7, one.shares.ravel()).reshape(rounded.shape)
        true += [measure(mapped(name, each, large).joint.astype(float)) for name, each in mappings(one).items()]
    told, published = (spearmanr(true, each).statistic for each in (answered, plain))
    assert told > published
    errors = [np.abs(np.array(each) - true).mean() for each in (answered, plain)]
    assert errors[0] < 0.7 * errors[1]


def mappings(population):
    coarse = population.group_of
    return {"fine": np.arange(population.values), "coarse": coarse, "halves": coarse * 2 // population.groups}


@pytest.mark.long
@for_each("base", [None, 5])
def test_equally_good_maskings_of_several_attributes_are_not_left_out(base):
    """Each attribute has a sample of its own, and one weighs most; by exact counts and by rounded ones."""
    populations = [Population(8_000, values=40, groups=4, labels=3, skew=1.0, seed=seed) for seed in (5, 6, 7)]
    rng, apart, samples = np.random.default_rng(2), dict.fromkeys(SHORT, 0), 40
    for _ in range(samples):
        known = [
            replace(one.evidence(drawn, base), name=f"a{place}")
            for place, one in enumerate(populations)
            for drawn in [one.drawn(rng, 5)[0 if base is None else 1]]
        ]
        references, codes = [reconstruct(each) for each in known], np.array([[0] * 3, [1] * 3])
        for measure in SHORT:
            question = Question(measure, ("a0", "a1", "a2"), np.array([0.7, 0.2, 0.1]), bias_correction=False)
            answer = recommend(known, references, codes, [("fine", "coarse")] * 3, question)
            apart[measure] += answer.indistinguishable_count < len(codes)
    assert max(apart.values()) <= 0.08 * samples, apart
