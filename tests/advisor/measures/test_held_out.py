"""What values tell about records left out, against one prediction after the other."""

from itertools import product
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_advisor.measures import held_out_share


def written_out(values, labels):
    """The share by leaving out each record in turn."""
    records = len(labels)
    usual = {label: labels.count(label) / records for label in labels}
    whole = -sum(share * log2(share) for share in usual.values())
    losses = []
    for weight in (0.1, 1, 10):
        lost = 0.0
        for left, (value, label) in enumerate(zip(values, labels, strict=True)):
            rest = [y for place, (a, y) in enumerate(zip(values, labels, strict=True)) if place != left and a == value]
            lost -= log2((rest.count(label) + weight * usual[label]) / (len(rest) + weight))
        losses.append(lost / records)
    return min(1, max(0, 1 - min(losses) / whole)) if whole else 0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=40))
def test_each_record_is_predicted_from_the_others(records):
    joint = np.zeros((4, 3), dtype=np.int64)
    for value, label in records:
        joint[value, label] += 1
    values, labels = (list(each) for each in zip(*records, strict=True))
    assert held_out_share(joint) == pytest.approx(written_out(values, labels), abs=1e-12)


def test_ids_tell_nothing_and_the_label_itself_nearly_all():
    assert held_out_share(np.eye(2, dtype=np.int64)[np.arange(1000) % 2]) == 0
    assert held_out_share(np.diag([500, 500])) > 0.999


def test_independent_values_tell_next_to_nothing_however_many_there_are():
    random = np.random.default_rng(1)
    for values, labels in product((10, 300, 3000), (2, 5)):
        joint = np.zeros((values, labels), dtype=np.int64)
        np.add.at(joint, (random.integers(0, values, 3000), random.integers(0, labels, 3000)), 1)
        assert held_out_share(joint) < 0.01
