"""Exact, rounded and noisy counts: maskings that are equally good are not told apart, and real differences are seen.

In the populations fine values tell as much of the label as the coarse groups they are in, or have a quarter of their
own.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import spearmanr

from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Question, recommend
from aegis_advisor.ranking.deviation import exact_utilities
from aegis_advisor.reconstruction import reconstruct
from tests.advisor.cases import evidence_of, mapped
from tests.advisor.rounded_samples import Population
from tests.for_each import for_each

SHORT = ("mutual_information", "chi_square", "jensen_shannon")
SMOOTH = (*SHORT, "theils_u", "goodman_kruskal_tau", "cramers_v", "cramers_v_corrected")
LONG = (*SMOOTH, "g3", "goodman_kruskal_lambda")

WAYS = {
    "exact": lambda one, _rng, table: one.evidence(table),
    "rounded": lambda one, rng, table: one.evidence(one.rounded(rng, table, one.base), one.base),
    "noise": lambda one, rng, table: one.noisy(rng, table, scale=10),
}
"""How an attribute of a population is published."""

ONE, THREE = (1.0,), (0.7, 0.2, 0.1)
"""The weights of attributes."""


def told_apart(population, way, samples, measures, weights=ONE, fine="fine"):
    """How often each measure leaves one of two configurations out of those indistinguishable from the best.

    All attributes are fine (or `identity`) in one and coarse in the other. They are independent given the label, and
    populations of several have seeds in turn.
    """
    rng, apart = np.random.default_rng(1), dict.fromkeys(measures, 0)
    several = [replace(population, seed=population.seed + place) for place in range(len(weights))]
    names, options = [f"a{place}" for place in range(len(weights))], [(fine, "coarse")] * len(weights)
    for _ in range(samples):
        label = rng.multinomial(population.records, population.shares.sum(axis=0))
        published = [WAYS[way](one, rng, one.given(rng, label)) for one in several]
        known = [replace(one, name=name) for one, name in zip(published, names, strict=True)]
        references, codes = [reconstruct(one) for one in known], np.repeat([[0], [1]], len(weights), axis=1)
        for measure in measures:
            question = Question(measure, tuple(names), np.array(weights), bias_correction=False)
            apart[measure] += recommend(known, references, codes, options, question).indistinguishable_count < 2
    return {measure: count / samples for measure, count in apart.items()}


def mixed(*sizes, **more):
    return Population(*sizes, mixed=True, **more)


def test_an_equally_good_masking_is_not_left_out():
    """Where rounding was taken for information, all three measures left the coarse one out in 90 to 100 %."""
    apart = told_apart(Population(8_000, values=100, groups=5, labels=3, skew=1.0), "rounded", 40, SHORT)
    assert max(apart.values()) <= 0.08


@for_each(
    ("population", "way"),
    [
        (mixed(5_000, 40, 5, 2, 1.0, rare=True, seed=1800), "exact"),
        (mixed(3_000, 30, 4, 3, 1.0), "rounded"),
        (mixed(8_000, 30, 4, 3, 0.5, seed=300), "noise"),
    ],
)
def test_a_rare_label_another_base_or_noise_leaves_none_out_either(population, way):
    """In the first one, V corrected for bias left the fine masking out in 32 %; in the last, chi-square one in 35 %."""
    apart = told_apart(population, way, 25, (*SHORT, "cramers_v_corrected"))
    assert max(apart.values()) <= 0.08, apart


def test_noise_does_not_make_unmasked_values_the_best():
    """They are known by noisy counts alone, and all three measures left the groups out in every sample."""
    population = mixed(8_000, 30, 4, 3, 0.5, seed=300)
    assert max(told_apart(population, "noise", 12, SHORT, fine="identity").values()) <= 0.1
    different = replace(population, own=1.0)
    assert min(told_apart(different, "noise", 6, SHORT, fine="identity").values()) >= 0.8


def test_a_real_difference_is_seen():
    apart = told_apart(Population(8_000, values=100, groups=5, labels=3, skew=1.0, own=0.25), "rounded", 8, SHORT)
    assert min(apart.values()) >= 0.8


EQUALLY_GOOD = {
    "even groups, 100 values": (Population(8_000, 100, 5, 3, 1.0, seed=6), "rounded", ONE),
    "even groups, 30 values": (Population(8_000, 30, 4, 3, 1.0), "rounded", ONE),
    "even groups, 2 labels": (Population(20_000, 100, 6, 2, 1.2), "rounded", ONE),
    "even groups, 5 labels": (Population(3_000, 60, 5, 5, 0.5), "rounded", ONE),
    "8 labels, few records": (Population(3_000, 100, 10, 8, 1.0), "exact", ONE),
    "even groups, three attributes": (Population(8_000, 40, 4, 3, 1.0), "exact", THREE),
    "three rounded attributes": (Population(8_000, 40, 4, 3, 1.0), "rounded", THREE),
    "few values": (mixed(2_000, 30, 4, 3, 1.0), "exact", ONE),
    "few records": (mixed(500, 20, 3, 2, 0.5), "exact", ONE),
    "a rare label": (mixed(5_000, 40, 5, 2, 1.0, rare=True), "exact", ONE),
    "a rare label in many records": (mixed(20_000, 60, 6, 2, 1.2, rare=True), "exact", ONE),
    "three attributes": (mixed(3_000, 30, 4, 3, 1.0), "exact", THREE),
    "base 3": (mixed(3_000, 30, 4, 3, 1.0), "rounded", ONE),
    "base 5": (mixed(8_000, 30, 4, 3, 1.0), "rounded", ONE),
    "base 5, 100 values": (mixed(8_000, 100, 5, 3, 1.0), "rounded", ONE),
    "noise": (mixed(8_000, 30, 4, 3, 0.5), "noise", ONE),
}
"""The last nine are those of the audit, with groups of random sizes. With 8 labels, V corrected for bias left the fine
masking out in 82 %."""


@pytest.mark.long
@for_each(("population", "way", "weights"), EQUALLY_GOOD.values())
def test_no_measure_leaves_an_equally_good_masking_out(population, way, weights):
    apart = told_apart(population, way, 26, LONG, weights)
    assert max(apart.values()) <= 0.16, apart  # of 26 samples: at a rate of 0.08, 5 % of runs exceed that


@pytest.mark.long
def test_few_records_of_many_values_leave_none_out():
    """V corrected for bias is not among the measures: it leaves one out in 12 % by exact counts, and 22 % by these."""
    measures = [each for each in LONG if each != "cramers_v_corrected"]
    apart = told_apart(Population(1_000, 100, 5, 3, 1.0), "rounded", 26, measures)
    assert max(apart.values()) <= 0.08, apart


@pytest.mark.long
@for_each(
    ("population", "way"),
    [
        (Population(8_000, values=100, groups=5, labels=3, skew=1.0, own=0.25, seed=6), "rounded"),
        (Population(8_000, values=30, groups=4, labels=3, skew=1.0, own=0.25), "rounded"),
        (Population(20_000, values=100, groups=6, labels=2, skew=1.2, own=0.25), "rounded"),
        (Population(3_000, values=60, groups=5, labels=5, skew=0.5, own=0.25), "rounded"),
        (mixed(8_000, 30, 4, 3, 1.0, own=0.25), "rounded"),
        (mixed(8_000, 30, 4, 3, 0.5, own=1.0), "noise"),
    ],
)
def test_real_differences_are_seen_nearly_as_often_as_in_exact_counts(population, way):
    """Of the noisy values that have nothing in common, mutual information told 20 %."""
    measures = (*SHORT, "goodman_kruskal_tau")
    seen, possible = (told_apart(population, each, 40, measures) for each in (way, "exact"))
    assert all(seen[measure] >= 0.8 * possible[measure] for measure in measures), (seen, possible)


@pytest.mark.long
def test_real_differences_of_several_attributes_are_seen():
    apart = told_apart(mixed(3_000, 30, 4, 3, 1.0, own=0.25), "exact", 30, SMOOTH, THREE)
    assert min(apart.values()) >= 0.8, apart


def test_the_order_is_nearer_to_that_of_a_large_sample():
    """Only some attributes tell more by their fine values; in rounded counts as they stand, all seem to."""
    rng, measure = np.random.default_rng(8), MEASURES["mutual_information"]
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
    assert errors[0] < 0.75 * errors[1]


def test_the_order_is_no_worse_where_fine_values_tell_more():
    """To take out all that rounding adds made it worse by a quarter: what it adds is hardly more than its errors."""
    rng, measure = np.random.default_rng(4), MEASURES["mutual_information"]
    attributes = [Population(500, 12 + 3 * seed, 4, 3, skew=0.0, own=0.5, seed=seed) for seed in range(5)]
    exact, lost = [one.drawn(rng, 3)[0] for one in attributes], []
    for _ in range(8):
        rounded = [one.rounded(rng, table, 3) for one, table in zip(attributes, exact, strict=True)]
        true, plain, told = (
            sums(
                [
                    exact_utilities(one.evidence(table, base), measure)
                    for one, table in zip(attributes, tables, strict=True)
                ]
            )
            for tables, base in ((exact, None), (rounded, None), (rounded, 3))
        )
        lost.append([1 - spearmanr(true, each).statistic for each in (plain, told)])
    uncorrected, corrected = np.mean(lost, axis=0)
    assert corrected <= 1.02 * uncorrected


def sums(utilities):
    """The sums for configurations that share each attribute by its fine masking, by its coarse one or not at all."""
    return [sum(each) for each in product(*((one["fine"], one["coarse"], 0.0) for one in utilities))]


def mappings(population):
    coarse = population.group_of
    return {"fine": np.arange(population.values), "coarse": coarse, "halves": coarse * 2 // population.groups}
