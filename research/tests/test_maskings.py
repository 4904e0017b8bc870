"""Rival ways to mask a table do what their sources say: compared with brute force, record by record."""

from collections import Counter, defaultdict
from itertools import product
from math import log

import numpy as np
import pytest

from research.credit_cards import LABEL, credit_cards
from research.losses import Estimate
from research.rivals.maskings import aegis, page
from research.rivals.maskings.mondrian import mondrian
from research.rivals.maskings.recoding import (
    LEFT_OUT,
    METRICS,
    Promise,
    Recodings,
    best_recodings,
    fifteen_lines,
    given_levels,
)
from research.rivals.maskings.tables import Split
from research.rivals.maskings.trained import aucs, unmasked
from research.study import Table

PROMISES = (Promise(5), Promise(4, 2))


@pytest.fixture(scope="module")
def split():
    """200 records of a number, an ordinal and a text, which depend on a label of two classes."""
    rng = np.random.default_rng(5)
    label = rng.integers(0, 2, 250)
    columns = {
        "number": rng.integers(0, 60, 250) + 20 * label,
        "ordinal": rng.integers(0, 6, 250),
        "text": np.array(["red", "green", "blue"])[(rng.integers(0, 3, 250) + label) % 3],
    }
    texts = {name: column.astype(str) for name, column in columns.items()}
    return Split.of(Table("small", "", "", texts, label.astype(str)), 0)


def by_hand(split, levels, node, promise):
    """Return the metrics of a recoding, from one record after the other; None if it leaves out too many."""
    finest = [of[0][codes] for of, codes in zip(levels, split.train.T, strict=True)]
    cells = [of[level][codes] for of, level, codes in zip(levels, node, split.train.T, strict=True)]
    classes = defaultdict(list)
    for place, cell in enumerate(zip(*(column.tolist() for column in cells), strict=True)):
        classes[cell].append(place)
    labels = split.classes.tolist()
    left = [
        place
        for places in classes.values()
        if len(places) < promise.k or len({labels[each] for each in places}) < promise.l
        for place in places
    ]
    if len(left) > LEFT_OUT * len(labels):
        return None
    kept = [places for places in classes.values() if not set(places) & set(left)]
    wrong = len(left) + sum(len(p) - Counter(labels[each] for each in p).most_common(1)[0][1] for p in kept)
    costs = np.zeros(2)
    for of, level, leaf, cell in zip(levels, node, finest, cells, strict=True):
        leaves, behind = Counter(leaf.tolist()), defaultdict(set)
        for low, high in zip(of[0].tolist(), of[level].tolist(), strict=True):
            behind[high].add(low)
        together = Counter(cell.tolist())
        most = sum(log(len(labels) / leaves[each]) for each in leaf.tolist()) / len(labels)
        for place in (place for places in kept for place in places):
            loss = (len(behind[cell[place]]) - 1) / (len(leaves) - 1)
            costs += loss, log(together[cell[place]] / leaves[leaf[place]]) / most
    return wrong, *(costs / len(levels) + len(left))


@pytest.mark.parametrize("promise", PROMISES, ids=lambda each: each.name)
def test_enumeration_has_the_least_of_each_metric_of_all_recodings(split, promise):
    levels = given_levels(split)
    nodes = list(product(*(range(len(of)) for of in levels)))
    by_node = {node: found for node in nodes if (found := by_hand(split, levels, node, promise)) is not None}
    recodings = Recodings(split, levels, promise)
    recodings.enumerate()
    assert 1 < len(by_node) < len(nodes)
    for place, metric in enumerate(METRICS):
        value, _, node = recodings.best[metric]
        assert value == pytest.approx(min(found[place] for found in by_node.values()))
        assert by_node[node][place] == pytest.approx(value)
    climbing = Recodings(split, levels, promise)
    climbing.climb("entropy")
    assert climbing.best["entropy"][0] == pytest.approx(recodings.best["entropy"][0])


def classes_of(masked, split):
    counts = defaultdict(Counter)
    for cell, label in zip(masked.train[masked.shown].tolist(), split.classes[masked.shown].tolist(), strict=True):
        counts[tuple(cell)][label] += 1
    return counts


@pytest.mark.parametrize("promise", PROMISES, ids=lambda each: each.name)
def test_every_method_keeps_its_promise_and_masks_tested_records_by_the_same_rules(split, promise):
    levels = given_levels(split)
    local = [mondrian(split, promise, by_gain=by_gain) for by_gain in (True, False)]
    others = [
        aegis.drafted(split, promise),
        aegis.searched(split, levels, promise),
        fifteen_lines(split, promise),
        *best_recodings(split, levels, promise).values(),
    ]
    for masked in (*local, *others):
        counts = classes_of(masked, split)
        assert min(map(Counter.total, counts.values())) >= promise.k
        assert min(map(len, counts.values())) >= promise.l
        assert len(counts) > 1
        alike = dict(zip(map(tuple, split.train.tolist()), masked.train.tolist(), strict=True))
        pairs = zip(map(tuple, split.test.tolist()), masked.test.tolist(), strict=True)
        known = [(alike[record], cell) for record, cell in pairs if record in alike]
        assert known
        assert all(one == other for one, other in known)
    assert all(masked.shown.all() for masked in local)
    assert all(0 <= (~masked.shown).mean() <= LEFT_OUT for masked in others)


def test_mondrian_by_gain_cuts_where_the_label_changes():
    numbers = np.repeat(np.arange(10), 10)
    table = Table("step", "", "", {"x": numbers.astype(str)}, np.where(numbers < 3, "a", "b"))
    masked = mondrian(Split.of(table, 0), Promise(20), by_gain=True)
    low, high = np.divmod(np.unique(masked.train), 10)
    assert (low[0], high[0], low[1]) == (0, 2, 3)


def test_an_unseen_value_is_the_nearest_number_or_the_most_frequent_text():
    values = np.array(["1", "2", "10"] * 20 + ["7"])
    texts = np.array(["a", "b", "b"] * 20 + ["z"])
    table = Table("unseen", "", "", {"n": values, "t": texts}, np.array(["x", "y"] * 30 + ["x"]))
    [split] = [each for fold in range(5) if "7" not in (each := Split.of(table, fold)).domains[0]]
    assert split.domains == (("1", "2", "10"), ("a", "b"))
    assert [2, 1] in split.test.tolist()


def test_the_years_of_a_person_are_never_on_both_sides():
    person = np.random.default_rng(2).integers(0, 60, 300)
    columns = {"visits": np.arange(300).astype(str), "income": person.astype(str)}
    split = Split.of(Table("health", "", "", columns, (person % 3).astype(str)), 0)
    assert len(split.domains[1]) < 60


def test_an_interval_is_that_of_the_corrected_resampled_t_test():
    found = Estimate.of(np.array([0.01, 0.02, 0.03, 0.02, 0.02]), 1 / 4)
    half = 2.7764451 * np.sqrt(0.00005 * (1 / 5 + 1 / 4))  # Student's quantile with 4 degrees of freedom
    assert (found.mean, found.lower, found.upper) == pytest.approx((0.02, 0.02 - half, 0.02 + half))


def test_the_default_search_finds_a_good_mask_of_23_attributes():
    made = credit_cards()
    columns = {name: column.astype(str) for name, column in made.items() if name != LABEL}
    split = Split.of(Table("customers", "", "", columns, made[LABEL].astype(str)), 0)
    masked = aegis.searched(split, given_levels(split), Promise(5))
    assert min(aucs(masked, split)) > min(aucs(unmasked(split), split)) - 0.015


def test_the_page_has_what_each_mask_costs(tmp_path):
    results, table = page.Results(), Table("small", "", "", {}, np.array(["x"] * 3))
    for fold, (left_out, seconds, megabytes) in enumerate([(0.02, 1.0, 100), (0.04, 3.0, 300)]):
        cost = {"left_out": left_out, "seconds": seconds, "megabytes": megabytes, "exact": True}
        results.add(table, "k = 5", fold, {name: {"aucs": [0.7, 0.8], **cost} for name in page.METHODS})
    page.write(results, tmp_path / "rivals.md")
    assert "| drafted | 97.0% | 96.0% | 2.00 | 3.00 | 200 | 300 |" in (tmp_path / "rivals.md").read_text()
    assert "k = 5,small,drafted,0.7500,0.9700,2.000,200" in (tmp_path / "rivals.csv").read_text().splitlines()
