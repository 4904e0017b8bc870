"""What rounding adds to the scores of drawn tables, against what the provider's rounding did add to them."""

import numpy as np
import pytest

from aegis_advisor.evidence import LikelyTables
from aegis_advisor.measures import MEASURES
from tests.advisor.rounded_samples import Population
from tests.for_each import for_each

RULES = {
    name: MEASURES[name].rounding
    for name in ("mutual_information", "chi_square", "goodman_kruskal_tau", "jensen_shannon", "g3")
}


def score(rule, table):
    held = table.any(axis=1)
    return float(rule.scores(table[held], table.sum(axis=0) / table.sum()).sum())


@for_each(
    ("population", "base"),
    [
        (Population(records=8_000, values=100, groups=5, labels=3, skew=1.0), 5),
        (Population(records=8_000, values=300, groups=5, labels=3, skew=1.0), 5),
        (Population(records=1_000, values=100, groups=5, labels=3, skew=1.0), 3),
        (Population(records=20_000, values=100, groups=5, labels=3, skew=1.0), 50),
    ],
)
def test_gains_are_those_of_the_providers_rounding(population, base):
    rng = np.random.default_rng(1)
    gained, told = {name: [] for name in RULES}, {name: [] for name in RULES}
    for _ in range(12):
        exact, rounded = population.drawn(rng, base)
        likely = LikelyTables.of(rounded.astype(float), base, np.ones(len(rounded)))
        for name, rule in RULES.items():
            gained[name].append(score(rule, rounded.astype(float)) - score(rule, exact.astype(float)))
            told[name].append(rule.gain(likely)[0])
    for name in RULES:
        error = np.std(gained[name], ddof=1) / np.sqrt(len(gained[name]))
        share = 0.35 if name == "g3" else 0.25  # of which label is the most frequent the model knows less
        assert np.mean(told[name]) == pytest.approx(np.mean(gained[name]), rel=share, abs=3 * error), name


def test_equal_tables_gain_the_same_and_large_counts_nothing():
    rng = np.random.default_rng(2)
    _, rounded = Population(records=2_000, values=40, groups=4, labels=3, skew=1.0).drawn(rng, 5)
    one, other = (LikelyTables.of(rounded.astype(float), 5, np.ones(len(rounded))) for _ in range(2))
    np.testing.assert_array_equal(one.counts, other.counts)
    assert np.all(abs(one.one - rounded) < 5)
    assert np.all((one.one >= 0) & (one.one % 1 == 0))
    large = LikelyTables.of(rounded.astype(float) + 100, 5, np.ones(len(rounded)))
    assert large.open.size == 0
    assert RULES["chi_square"].gain(large) == (0.0, 0.0)


def test_counts_that_vary_more_gain_more():
    _, rounded = Population(records=2_000, values=40, groups=4, labels=3, skew=1.0).drawn(np.random.default_rng(3), 5)
    once, twice = (LikelyTables.of(rounded.astype(float), 5, np.full(len(rounded), more)) for more in (1.0, 2.0))
    for rule in RULES.values():
        assert rule.gain(twice)[0] == pytest.approx(2 * rule.gain(once)[0])
