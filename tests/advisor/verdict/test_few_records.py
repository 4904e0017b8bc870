"""Values that certainly have 1 to 4 records, compared with all tables that fit what is published."""

from dataclasses import replace
from itertools import product

import numpy as np

from aegis_advisor.evidence import Masking, PairCounts, Perturbation
from aegis_advisor.verdict import PublishedCounts, Reason, Releases, judge
from tests.advisor.cases import evidence_of
from tests.for_each import for_each


def rounded_entry(counts, base, mapping=None):
    """An entry of one attribute, its joint counts (groups, labels) rounded once; each value is a group by default."""
    counts = np.array(counts)
    mapping = np.arange(len(counts)) if mapping is None else np.array(mapping)
    masking = Masking("m", len(counts), mapping, counts, deterministic=True)
    evidence = replace(evidence_of(counts, [masking], histogram=False), values=len(mapping), rounded_once=base)
    return PublishedCounts([evidence], {}, Releases(np.zeros((1, 1), dtype=np.int64), [("m",)], [None]))


def certainly_few(published, small=4):
    """How many values, labels and cells have few records, not always as many, in each table that fits."""
    [evidence] = published.evidence
    [masking], base = evidence.maskings, evidence.rounded_once
    near = [range(max(0, count - base + 1), count + base) for count in masking.joint.ravel()]
    off = np.arange(1 - base, base)
    values = np.bincount(masking.mapping)
    tables = np.array(list(product(*near))).reshape(-1, *masking.joint.shape)
    sums = tables.sum(axis=1)
    listed = (tables.sum(axis=2) >= values).all(axis=1) & (sums > 0).all(axis=1)
    within = np.isin(sums - evidence.label_histogram, off).all(axis=1)
    tables = tables[listed & within]
    shown = np.concatenate([tables.sum(axis=2), tables.sum(axis=1), tables.reshape(len(tables), -1)], axis=1)
    least, most = shown.min(axis=0), shown.max(axis=0)
    return int(np.count_nonzero((least >= 1) & (most <= small) & (least < most)))


@for_each(
    ("counts", "base", "mapping"),
    [
        ([[0, 0], [30, 30]], 3, None),
        ([[0, 0], [0, 0], [30, 30]], 3, None),
        ([[0, 0], [30, 30]], 3, [0, 0, 0, 1]),
        ([[0, 3], [30, 30]], 3, None),
        ([[0, 0], [30, 30]], 5, None),
        ([[0, 0, 0], [30, 30, 30]], 2, None),
        ([[2, 0], [30, 40]], 2, None),
        ([[30, 0], [40, 0]], 3, None),
        ([[30, 0], [40, 0]], 5, None),
        ([[0, 0, 0], [30, 30, 30]], 3, None),
    ],
)
def test_values_that_certainly_have_few_records_are_counted(counts, base, mapping):
    published = rounded_entry(counts, base, mapping)
    assert judge(published).few == certainly_few(published)
    assert judge(replace(published, rows_per_person=2)).few == certainly_few(published, small=8)


def test_they_pass_beside_their_number():
    verdict = judge(rounded_entry([[0, 0]] * 20 + [[300, 300]], 3))
    assert verdict.passed
    assert verdict.few == 20


def test_a_label_value_with_one_record_for_certain_fails():
    """By base 2, a listed value that is published as 0 has 1 record."""
    [finding] = judge(rounded_entry([[30, 0], [40, 0]], 2)).findings
    assert (finding.reason, finding.path, finding.cells) == (Reason.CERTAIN, ("label", "histogram"), 1)


@for_each(
    ("base", "cells", "largest"),
    [(3, 2, 4 / 9), (5, 2, 0.23), (3, 1, 2 / 3), (5, 1, 0.4)],
)
def test_the_probabilities_of_the_model_are_right(base, cells, largest):
    """A listed value, published as 0 with each label, to a reader who takes all tables for equally probable."""
    weights = np.zeros(cells * (base - 1) + 1)
    for counts in product(range(base), repeat=cells):
        weights[sum(counts)] += np.prod([1 - count / base for count in counts])
    weights[0] = 0
    assert np.isclose(weights[1:5].max() / weights.sum(), largest)


def test_a_pair_that_may_be_off_by_more_bases_is_not_certain():
    counts = 10 * np.eye(5, dtype=int) + 30
    attributes = [replace(evidence_of(counts, [], joint=True, name=name), rounded_once=2) for name in "ab"]
    few = []
    for within in (1, 2):
        pair = PairCounts(
            (0, 1), ("identity", "identity"), 2 * np.eye(5, dtype=int), Perturbation(rounded_to=2, within=within)
        )
        nothing = Releases(np.zeros((0, 2), dtype=np.int64), [], [])
        few.append(judge(PublishedCounts(attributes, {0: pair}, nothing)).few)
    assert few == [5, 0]
