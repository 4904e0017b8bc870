"""Effect of hiding on the information in attributes, against mutual information by its definition."""

import csv
from collections import Counter
from math import log2

import pytest

from aegis_provider.independence import associations, hide
from tests.provider.independence.example_1 import EXAMPLE_1


def information(path, first, second):
    """Return the mutual information in bits, by the definition."""
    with path.open(newline="") as file:
        pairs = [(tuple(row[name] for name in first), row[second]) for row in csv.DictReader(file)]
    both, ones, others = (Counter(each) for each in (pairs, [one for one, _ in pairs], [other for _, other in pairs]))
    n = len(pairs)
    return sum(k / n * log2(k * n / (ones[one] * others[other])) for (one, other), k in both.items())


@pytest.fixture
def table(write):
    return write("people.csv", EXAMPLE_1)


@pytest.fixture
def asked(table):
    return {"hide": ["Age", "Occupation"], "from_": ["Income"], "clusters": 3, "output": table.parent / "masked.csv"}


def test_hidden_attributes_tell_nothing_of_the_clusters_and_others_what_the_definition_says(table, asked):
    masked = asked["output"]

    hidden = hide(table, **asked, measure=True)

    of_values, of_clusters, *others = hidden.associations
    assert (of_values.first, of_values.second, of_values.in_clusters) == (("Age", "Occupation"), ("Income",), False)
    assert of_values.before == pytest.approx(information(table, ["Age", "Occupation"], "Income"))
    assert of_values.after == of_clusters.after == 0 == information(masked, ["Age", "Occupation"], "Income")
    assert of_clusters.in_clusters
    assert of_values.before > of_clusters.before > 0
    assert [each.first for each in others] == [("Age",), ("Occupation",), ("Income",)]
    for each in others:
        assert each.second == ("Food",)
        assert each.before == pytest.approx(information(table, each.first, "Food"))
        assert each.after == pytest.approx(information(masked, each.first, "Food"))


def test_they_are_measured_only_if_asked_for_and_can_be_later(table, asked):
    hidden = hide(table, **asked)
    assert hidden.associations == ()

    measured = associations(table, hidden)

    assert measured == hide(table, **asked, measure=True).associations
