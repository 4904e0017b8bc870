import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from aegis_provider.synth.generate.levels import Conditional, spread

TABLES = arrays(np.int64, array_shapes(min_dims=2, max_dims=2, max_side=5), elements=st.integers(0, 4))


@given(TABLES)
def test_equal_steps_draw_each_level_as_often_as_its_weight(table):
    of_table = Conditional.of_table(table.astype(float))
    group, level = (np.repeat(each.ravel(), table.ravel()) for each in np.indices(table.shape))
    of_records = Conditional.of_records(group, level, len(table))
    at = np.concatenate([(np.arange(total) + 0.5) / total for total in table.sum(axis=1)])
    assert of_table.drawn(group, at).tolist() == level.tolist()
    assert of_records.drawn(group, at).tolist() == level.tolist()


@given(TABLES, st.sampled_from([0.0, np.nextafter(1.0, 0.0)]))
def test_the_ends_draw_levels_that_have_some_weight(table, at):
    conditional = Conditional.of_table(table * 0.1)
    groups = np.flatnonzero(table.sum(axis=1))
    drawn = conditional.drawn(groups, np.full(len(groups), at))
    assert (table[groups, drawn] > 0).all()


@given(arrays(np.intp, st.integers(1, 30), elements=st.integers(0, 3)), st.integers(0, 9))
def test_each_record_of_a_group_has_its_own_part_of_the_unit(group, seed):
    at = spread(group, np.random.default_rng(seed))
    for each in np.unique(group):
        inside = at[group == each]
        assert np.floor(np.sort(inside) * len(inside)).astype(int).tolist() == list(range(len(inside)))


def test_no_record_of_a_group_is_favoured():
    at = np.stack([spread(np.array([0, 1, 0, 1, 0]), np.random.default_rng(seed)) for seed in range(4_000)])
    # The mean of 4,000 uniform numbers has a standard deviation of 0.0046.
    assert np.abs(at.mean(axis=0) - 0.5).max() < 0.03
