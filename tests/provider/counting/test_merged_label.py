"""Rare label values: refused, or merged into one with enough records."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.counting.counted_table import CountedAttribute, CountedTable
from aegis_provider.counting.counts import JointCounts
from aegis_provider.counting.merged_table import refuse_rare_labels, with_merged_labels
from aegis_provider.errors import TableError
from aegis_provider.plan.model import Attribute
from aegis_provider.table.values import Domain


class Named:
    """What a counted table needs to know of the table."""

    name = "t.csv"


def counted(histogram):
    """Return a table with an attribute of two values, and as many records of each label value as given."""
    labels = [f"y{place}" for place in range(len(histogram))]
    halves = np.array([(records - records // 2, records // 2) for records in histogram]).T
    values, places = np.nonzero(halves)
    joint = JointCounts(values, places, halves[values, places], halves.shape)
    return CountedTable(
        Named(), Domain.of(labels), (CountedAttribute(Attribute("a", None, ()), Domain.of("01"), joint),)
    )


@given(st.lists(st.integers(1, 9), min_size=2, max_size=6), st.integers(2, 9))
def test_the_merged_label_has_enough_records_and_only_the_rarest_are_merged(histogram, least):
    table = counted(histogram)
    try:
        held, merged = with_merged_labels(table, "y", least)
    except TableError:
        frequent = [each for each in histogram if each >= least]
        assert not frequent or (len(frequent) == 1 and sum(histogram) - frequent[0] < least)
        return
    again = held.attributes[0].counts.label_histogram()
    assert again.min() >= least
    assert again.sum() == sum(histogram)
    assert len(held.label) == len(set(held.label.texts)) == len(again) > 1
    assert (merged is None) == (min(histogram) >= least)
    for place, records in enumerate(histogram):
        text = held.label.texts[held.label.places[f"y{place}"]]
        if merged is None or f"y{place}" not in merged.values:
            assert records >= least
            assert text == f"y{place}"
        else:
            assert text == merged.text
    if merged:
        chosen = [histogram[int(each[1:])] for each in merged.values]
        assert max(chosen) < least or sum(chosen) - max(chosen) < least
        cells = [0] * len(again)
        for place in range(len(histogram)):
            cells[held.label.places[f"y{place}"]] += histogram[place] - histogram[place] // 2
        assert held.attributes[0].counts.fold([0, 1], 2)[0].tolist() == cells


def test_a_rare_label_value_is_refused_with_what_to_do():
    with pytest.raises(TableError) as refused:
        refuse_rare_labels(counted([9, 3, 1]), "y", 5)
    assert str(refused.value) == (
        "t.csv: the label 'y' has values with fewer records than the minimum cell count of 5, 'y2' only 1; merge them "
        "with --merge-rare-labels or choose a smaller minimum"
    )
    refuse_rare_labels(counted([9, 5]), "y", 5)


def test_one_label_value_is_not_a_label():
    with pytest.raises(TableError, match=r"'y' with fewer than 5 records leaves only one; choose a smaller minimum"):
        with_merged_labels(counted([9, 3]), "y", 5)
