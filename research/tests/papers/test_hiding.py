"""Independence masking in the study of the papers: what it hides, and the rules that it counts."""

from itertools import combinations, product

import numpy as np
import pytest

from research.papers.hiding import CONFIDENCE, SUPPORT, Case, compared, hide, rules
from research.papers.hiding_page import Measured, example_stars, joined, kept_share, worst_ratio
from research.study import Table


def table(records=240, seed=3):
    """A table in which `b` says much of `a`, and `c` something of both."""
    rng = np.random.default_rng(seed)
    b = rng.integers(10, size=records)
    a = np.where(rng.random(records) < 0.7, b // 4, rng.integers(3, size=records))
    columns = {"a": a, "d": rng.integers(2, size=records), "b": b, "c": (a + rng.integers(2, size=records)) % 3}
    texts = {name: column.astype(np.str_) for name, column in columns.items()}
    return Table("made", "", "", texts, np.where(columns["c"] > 0, "yes", "no"))


@pytest.fixture(scope="module")
def hidden():
    return hide(Case(table(), ("a", "d"), ("b",), clusters=3))


def test_what_is_hidden_is_independent_of_the_clusters(hidden):
    assert hidden.independent
    assert hidden.bound <= hidden.stars["best"] <= min(hidden.stars["matching"], hidden.stars["identical"])
    assert hidden.ratio == hidden.stars["best"] / (2 * 240)


def test_rules_from_hidden_values_to_clusters_disappear_and_those_of_other_columns_stay(hidden):
    assert hidden.rules["AB"].before > 0
    assert (hidden.rules["AB"].kept, hidden.rules["AB"].new) == (0, 0)
    for kind in ("C", "BC"):
        assert hidden.rules[kind].kept == hidden.rules[kind].before
        assert hidden.rules[kind].new == 0
        assert kept_share(hidden, kind) == 1


def test_a_result_that_two_axes_share_counts_once(hidden):
    other = hide(Case(table(), ("a", "d"), ("b",), clusters=2))
    assert Measured("made", {"clusters": [other, hidden], "attributes": [hidden]}).every == [other, hidden]


def test_one_cluster_hides_nothing_and_costs_nothing():
    alone = hide(Case(table(), ("a", "d"), ("b",), clusters=1))
    assert (alone.ratio, alone.told) == (0, 0)
    assert all(each.kept == each.before for each in alone.rules.values())


def by_hand(columns):
    """The same rules, counted record by record."""
    rows = [set(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    items = sorted({item for row in rows for item in row if item[1] != "*"})

    def often(*chosen):
        return sum(set(chosen) <= row for row in rows)

    for before in (*product(items), *combinations(items, 2)):
        for after in items:
            if len({name for name, _ in (*before, after)}) < len(before) + 1:
                continue
            both, least = often(*before, after), SUPPORT * len(rows)
            likelier = both * len(rows) > often(*before) * often(after)
            if both >= least and both >= CONFIDENCE * often(*before) and likelier:
                yield (*before, after)


def test_rules_are_those_counted_record_by_record():
    columns = {name: column[:60] for name, column in table().columns.items() if name != "b"}
    columns["a"] = np.where(np.arange(60) % 7 == 0, "*", columns["a"])
    found = list(rules(columns))
    assert set(found) == set(by_hand(columns))
    assert len(set(found)) == len(found) > 5


def test_kinds_of_rules_are_the_parts_that_they_are_about():
    columns = {"a": np.array(["x", "x", "y", "y"] * 20), "cluster": np.array(["0", "0", "1", "1"] * 20)}
    columns["c"] = columns["a"]
    counted = compared(columns, {**columns, "a": np.full(80, "*")}, ["a"])
    assert counted["AB"].before == 4  # each value of a with its cluster, and back
    assert counted["AB"].kept == counted["AC"].kept == 0
    assert counted["BC"].kept == counted["BC"].before == 4


def test_the_first_example_of_the_note_needs_six_stars_and_the_worst_case_all():
    assert example_stars() == 6
    assert worst_ratio() == 1


def test_a_join_restores_the_records_that_are_alone_with_what_stays():
    columns = {"a": np.array(list("xxyy")), "b": np.array(list("1234")), "c": np.array(list("pqqr"))}
    made = Table("made", "", "", columns, np.array(["l"] * 4))
    assert joined(made, Case(made, ("a",), ("b",), attributes=1)) == 0.5  # p and r
