"""Rival rankers, against brute force over records and against SciPy and scikit-learn."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chisquare, entropy
from sklearn.metrics import mutual_info_score

from aegis_advisor.evidence import DROP, IDENTITY
from aegis_advisor.measures import MEASURES
from research.rivals.mascara import blurring, information_loss, mascara
from research.rivals.mrmr import mrmr
from research.rivals.sampling import Sampler, finest_view, sampling, sampling_views
from research.study import mapping_of
from research.tests.studies import random_study

pytestmark = pytest.mark.long

INFORMATION = MEASURES["mutual_information"]
SEEDS = pytest.mark.parametrize("seed", range(4))


def spread(histogram, mapping):
    """Return the histogram as an observer of masked values would estimate it, value by value."""
    return [
        sum(count for count, other in zip(histogram, mapping, strict=True) if other == group)
        / list(mapping).count(group)
        for group in mapping
    ]


def test_mascara_by_hand():
    # KL((1/2, 0, 1/2) || (1/4, 1/4, 1/2)) = 1/2 log2 2
    assert blurring(np.array([5, 0, 5]), np.array([0, 0, 1])) == pytest.approx(0.5)
    assert blurring(np.array([3, 1, 4]), np.arange(3)) == 0.0
    assert blurring(np.array([8, 0, 0, 0]), np.zeros(4, dtype=int)) == pytest.approx(2.0)


@SEEDS
def test_mascara_is_the_relative_entropy_of_every_attribute(seed):
    study = random_study(seed)
    for configuration, utility in enumerate(mascara(study)):
        expected = 0.0
        for one, name in zip(study.evidence, study.maskings(configuration), strict=True):
            mapping = mapping_of(one, name)
            expected += entropy(one.histogram, spread(one.histogram.tolist(), mapping.tolist()), base=2)
        assert -utility == pytest.approx(expected, abs=1e-12)


def test_mascara_counts_suppressed_records_and_knows_no_label():
    study = random_study(0)
    share = np.linspace(0, 1, len(study.configurations.ids))
    lost = information_loss(study.evidence, study.configurations, share)
    np.testing.assert_allclose(lost, -mascara(study) * (1 + share))
    blind = [replace(one, maskings=tuple(replace(each, joint=None) for each in one.maskings)) for one in study.evidence]
    np.testing.assert_array_equal(information_loss(blind, study.configurations), -mascara(study))


def test_mascara_refuses_what_it_cannot_know():
    study = random_study(0)
    without = [replace(one, histogram=None) for one in study.evidence]
    with pytest.raises(ValueError, match="histogram of 'a0'"):
        information_loss(without, study.configurations)


@SEEDS
@pytest.mark.parametrize("from_views", [False, True])
def test_deviations_of_the_sample_are_those_of_its_records_masked_one_by_one(seed, from_views):
    study = random_study(seed)
    sampler = Sampler(INFORMATION, from_views, records=200, seed=seed)
    utility = sampler.deviations(study.evidence, study.configurations)
    for configuration, deviation in enumerate(utility):
        lost = []
        for one, name in zip(study.evidence, study.maskings(configuration), strict=True):
            sample = sampler.sample(one)
            values, classes = sample.values.tolist(), sample.classes.tolist()
            assert len(values) == 200
            mapping = mapping_of(one, name)
            masked = [mapping[value] for value in values]
            bits = [mutual_info_score(column, classes) / np.log(2) for column in (values, masked)]
            lost.append(abs(bits[0] - bits[1]))
        assert deviation == pytest.approx(np.mean(lost), abs=1e-12)


@pytest.mark.parametrize("histogram", [True, False])
@pytest.mark.parametrize("from_views", [True, False])
def test_records_are_drawn_from_what_is_known(from_views, histogram):
    study = random_study(1)
    one = study.evidence[0] if histogram else replace(study.evidence[0], histogram=None)
    label = one.label_histogram / one.records
    weight = np.ones(one.values) if one.histogram is None else one.histogram
    if from_views:
        view = finest_view(one)
        within = weight / np.array([weight[view.mapping == group].sum() for group in view.mapping])
        expected = within[:, None] * view.joint[view.mapping] / one.records
    else:
        expected = np.outer(weight / weight.sum(), label)
    size = 100_000
    counts = Sampler(INFORMATION, from_views, records=size).sample(one).counts(one.labels, one.values)
    held = expected > 0
    assert counts[~held].sum() == 0
    assert chisquare(counts[held], expected[held] * size).pvalue > 0.001


def test_the_finest_view_has_the_most_masked_values_with_records():
    study = random_study(2)
    for one in study.evidence:
        occupied = {masking.id: int((masking.joint.sum(axis=1) > 0).sum()) for masking in one.maskings}
        assert occupied[finest_view(one).id] == max(occupied.values())
    bare = replace(study.evidence[0], maskings=())
    assert finest_view(bare) is None
    counts = Sampler(INFORMATION, from_views=True).sample(bare)
    np.testing.assert_array_equal(counts.values, Sampler(INFORMATION).sample(bare).values)


def test_samples_repeat_and_differ_between_attributes_and_seeds():
    one = random_study(3).evidence[0]
    first = Sampler(INFORMATION).sample(one)
    assert first.values.size == one.records
    np.testing.assert_array_equal(Sampler(INFORMATION).sample(one).values, first.values)
    assert (Sampler(INFORMATION).sample(replace(one, name="b")).values != first.values).any()
    assert (Sampler(INFORMATION, seed=5).sample(one).values != first.values).any()


def test_sampling_rankers_give_higher_scores_to_smaller_deviations():
    study = random_study(4)
    for ranker, from_views in ((sampling, False), (sampling_views, True)):
        deviations = Sampler(INFORMATION, from_views).deviations(study.evidence, study.configurations)
        np.testing.assert_array_equal(ranker(study), -deviations)


@SEEDS
def test_mrmr_is_relevance_less_redundancy_of_the_masked_records(seed):
    study = random_study(seed)
    study = replace(study, evidence=tuple(map(with_truth, study.evidence, study.truths)))
    for configuration, utility in enumerate(mrmr(study)):
        masked = study.masked(configuration).T
        shared = [column for column in masked if len(set(column.tolist())) > 1]
        relevance = sum(mutual_info_score(column, study.classes) for column in shared)
        redundancy = sum(mutual_info_score(*pair) for pair in combinations(shared, 2))
        expected = relevance - redundancy / max(len(shared) - 1, 1)
        assert utility == pytest.approx(expected / np.log(2), abs=1e-12)


def with_truth(evidence, truth):
    return replace(evidence, joint=truth)


def test_mrmr_says_which_counts_it_lacks():
    study = random_study(0)
    study = replace(study, evidence=tuple(map(with_truth, study.evidence, study.truths)))
    pairs = tuple(pair for pair in study.pairs if pair.attributes != (0, 1))
    with pytest.raises(ValueError, match=r"the pair counts of .* are not known"):
        mrmr(replace(study, pairs=pairs))


def test_random_studies_use_every_kind_of_masking():
    study = random_study(0)
    used = {name for at in range(len(study.configurations.ids)) for name in study.maskings(at)}
    assert used == {IDENTITY, DROP, "m0", "m1"}
