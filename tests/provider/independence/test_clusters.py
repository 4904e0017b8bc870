"""Clusters of equal size, of numbers and of values without order."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.independence.clusters import balanced_clusters, quantile_clusters
from tests.for_each import for_each


def seeded(seed=0):
    return np.random.default_rng(seed)


def spread(columns, clusters):
    """Return the summed variance within clusters, of numbers scaled to variance 1."""
    scaled = np.column_stack([(each - each.mean()) / each.std() for each in columns])
    return sum(
        ((scaled[clusters == one] - scaled[clusters == one].mean(axis=0)) ** 2).sum() for one in np.unique(clusters)
    )


class TestQuantileClusters:
    def test_are_the_intervals_of_the_paper(self):
        income = np.array([25, 4, 10, 20, 11, 6, 18, 13, 7, 15, 9, 6], dtype=np.float64)

        numbers = quantile_clusters(income, 3, seeded())

        assert [sorted(income[numbers == one].tolist()) for one in range(3)] == [
            [4, 6, 6, 7],
            [9, 10, 11, 13],
            [15, 18, 20, 25],
        ]

    @given(st.lists(st.integers(0, 5), min_size=1, max_size=10), st.integers(1, 5), st.integers(0, 9))
    def test_have_equal_sizes_and_follow_the_numbers(self, some, clusters, seed):
        values = np.array(some * clusters, dtype=np.float64)

        numbers = quantile_clusters(values, clusters, seeded(seed))

        assert np.bincount(numbers, minlength=clusters).tolist() == [len(some)] * clusters
        for one in range(1, clusters):
            assert values[numbers == one - 1].max() <= values[numbers == one].min()

    def test_draw_which_of_equal_numbers_are_where(self):
        drawn = {tuple(quantile_clusters(np.zeros(6), 2, seeded(seed)).tolist()) for seed in range(200)}

        assert len(drawn) == 20

    def test_are_the_same_for_the_same_seed(self):
        one, other = (quantile_clusters(np.zeros(50), 5, seeded(3)) for _ in range(2))

        np.testing.assert_array_equal(one, other)


class TestBalancedClusters:
    @given(st.integers(1, 8), st.integers(1, 5), st.integers(0, 1000))
    def test_have_equal_sizes(self, size, clusters, seed):
        random = seeded(seed)
        records = size * clusters
        columns = [random.normal(size=records), random.integers(0, 3, records), random.integers(0, 2, records) * 1.0]

        numbers = balanced_clusters(columns, clusters, random)

        assert np.bincount(numbers, minlength=clusters).tolist() == [size] * clusters

    def test_find_blobs_that_are_there(self):
        random = seeded()
        blob = np.repeat([0, 1, 2], 40)
        columns = [np.array([0, 10, 20])[blob] + random.normal(size=120), random.normal(size=120) + 9 * (blob == 1)]

        # The first centres can fall into one blob, which makes the clusters worse, but for most seeds they must not.
        right = [np.array_equal(balanced_clusters(columns, 3, seeded(seed)), blob) for seed in range(20)]

        assert sum(right) >= 15

    def test_separate_values_without_order(self):
        kind = np.tile([0, 1, 2], 30)

        numbers = balanced_clusters([kind, (kind + 1) % 3], 3, seeded())

        np.testing.assert_array_equal(numbers, kind)

    def test_are_tighter_than_any_drawn_ones(self):
        random = seeded(1)
        columns = [random.normal(size=200), random.lognormal(size=200)]
        drawn = [spread(columns, random.permutation(np.arange(200) % 4)) for _ in range(100)]

        assert spread(columns, balanced_clusters(columns, 4, random)) < 0.6 * min(drawn)

    def test_of_few_records_are_nearly_the_best_of_all(self):
        random = seeded(2)
        columns = [random.normal(size=6), random.normal(size=6)]
        best = min(spread(columns, np.array(each)) for each in set(permutations([0, 0, 1, 1, 2, 2])))

        least = min(spread(columns, balanced_clusters(columns, 3, seeded(seed))) for seed in range(10))

        assert least == pytest.approx(best)

    def test_are_numbered_by_the_first_column(self):
        values = seeded().normal(size=90)

        numbers = balanced_clusters([values, values**2], 3, seeded())

        means = [values[numbers == one].mean() for one in range(3)]
        assert means == sorted(means)

    def test_split_equal_records_where_they_must(self):
        numbers = balanced_clusters([np.zeros(12), np.ones(12, dtype=np.int64)], 4, seeded())

        assert np.bincount(numbers).tolist() == [3, 3, 3, 3]

    def test_take_numbers_of_any_size(self):
        values = np.array([1e308, -1e308, 1e-308, 0.0])

        assert np.bincount(balanced_clusters([values, values[::-1].copy()], 2, seeded())).tolist() == [2, 2]


@for_each("cluster", [quantile_clusters, lambda values, *rest: balanced_clusters([values], *rest)])
@for_each(
    ("values", "clusters", "reason"),
    [
        ([1.0, 2.0], 3, "2 records cannot make 3 clusters"),
        ([1.0, 2.0, 3.0], 2, "leave 1 out"),
        ([1.0, 2.0], 0, "the number of clusters must be 1 or more"),
        ([1.0, np.nan], 2, "finite"),
        ([1.0, np.inf], 2, "finite"),
        ([], 1, "0 records"),
    ],
)
def test_what_makes_no_equal_clusters_is_refused(cluster, values, clusters, reason):
    with pytest.raises(ValueError, match=reason):
        cluster(np.array(values, dtype=np.float64), clusters, seeded())


def test_no_columns_are_refused():
    with pytest.raises(ValueError, match="0 records"):
        balanced_clusters([], 2, seeded())
