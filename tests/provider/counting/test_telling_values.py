"""Values that tell the label are listed apart from their neighbours, although they have few records."""

import numpy as np

from aegis_provider.counting.counts import Partition
from aegis_provider.counting.published_domain import LEAST, least_records, merged_values
from aegis_provider.table.values import Domain
from tests.for_each import for_each

RECORDS = 5_000
"""Values need 224 of them to be listed without a reason."""


def table_of(records, place, told, *, ordered):
    """The texts of 200 values, which are numbers if they are in an order, and their joint counts.

    One has `records`, and another what remains of 25 for each. Half of the records of every value have one label, but
    those of this one have it in the share `told`.
    """
    histogram = np.full(200, 25)
    histogram[place] = records
    histogram[120] += RECORDS - histogram.sum()
    yes = histogram // 2
    yes[place] = round(told * records)
    return [f"{'' if ordered else 'v'}{1_000 + value}" for value in range(200)], np.stack(
        [histogram - yes, yes], axis=1
    )


def groups_of(records, place, told, *, ordered):
    """The listed group of each value, and the records of each group."""
    texts, joint = table_of(records, place, told, ordered=ordered)
    domain = Domain.of(texts)
    assert domain.texts == tuple(texts)
    everything = Partition(np.zeros(200, dtype=np.intp), 1)
    groups = merged_values(domain, joint, everything, least_records(RECORDS), binned=False).groups
    return groups, np.bincount(groups, joint.sum(axis=1))


def alone(records, told, *, ordered, place=77):
    groups, _ = groups_of(records, place, told, ordered=ordered)
    return np.count_nonzero(groups == groups[place]) == 1


@for_each("ordered", [True, False])
class TestOneRareValue:
    def test_stays_apart_if_all_of_its_records_have_one_label(self, ordered):
        assert alone(60, 1.0, ordered=ordered)
        assert alone(60, 0.0, ordered=ordered)

    def test_is_merged_if_it_tells_nothing(self, ordered):
        assert not alone(60, 0.5, ordered=ordered)

    def test_is_merged_if_chance_tells_as_much(self, ordered):
        """Of 60 records, 36 with one label are 1.5 standard deviations from half. One value in ten is as far off."""
        assert not alone(60, 0.6, ordered=ordered)

    @for_each("told", [0.0, 1.0])
    def test_is_never_listed_alone_with_fewer_than_20_records(self, ordered, told):
        assert not alone(LEAST - 1, told, ordered=ordered)
        assert alone(LEAST + 10, told, ordered=ordered)

    @for_each("records", [3, 19, 25, 60])
    @for_each("told", [0.0, 0.5, 1.0])
    def test_leaves_no_group_with_fewer(self, ordered, records, told):
        groups, held = groups_of(records, 77, told, ordered=ordered)
        assert held.min() >= LEAST
        few = np.flatnonzero(held < least_records(RECORDS))
        assert set(few.tolist()) <= {groups[77]}
        if ordered:
            assert set(np.diff(groups)) <= {0, 1}


@for_each("ordered", [True, False])
def test_the_first_and_the_last_value_stay_apart_like_any_other(ordered):
    assert alone(60, 1.0, ordered=ordered, place=0)
    assert alone(60, 1.0, ordered=ordered, place=199)


@for_each("seed", range(5))
@for_each("ordered", [True, False])
def test_what_a_label_drawn_at_random_seems_to_tell_keeps_no_value_apart(seed, ordered):
    histogram = np.full(200, 25)
    yes = np.random.default_rng(seed).binomial(histogram, 0.3)
    joint = np.stack([histogram - yes, yes], axis=1)
    domain = Domain.of([f"{'' if ordered else 'v'}{1_000 + each}" for each in range(200)])
    everything, least = Partition(np.zeros(200, dtype=np.intp), 1), least_records(RECORDS)
    groups = merged_values(domain, joint, everything, least, binned=False).groups
    assert np.bincount(groups, histogram).min() >= least
