"""The solvers, against every partition into groups and every masking of small tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.independence.grouping import SOLVERS, group
from aegis_provider.independence.vectors import MASKED, is_independent, starred
from tests.for_each import for_each
from tests.provider.independence.brute_force import (
    fewest_of_any_masking,
    fewest_stars,
    is_exactly_independent,
    small_table,
)

AGES = ["30~50"] * 3 + ["> 50", "30~50"] + ["< 30"] * 4 + ["30~50"] * 3
OCCUPATIONS = ["CEO", "Salesman", *["Prof"] * 4, *["Manager"] * 3, *["Prof"] * 3]
INCOME_CLUSTERS = np.array([3, 1, 2, 3, 2, 1, 3, 2, 1, 3, 2, 1]) - 1

#: (clusters, groups, attributes, values): at most nine records, or twelve with four clusters.
SIZES = [(2, 4, 1, 3), (2, 4, 3, 2), (2, 3, 4, 3), (3, 3, 1, 3), (3, 3, 2, 2), (3, 3, 3, 3), (3, 2, 4, 2), (4, 3, 2, 2)]


def grouped(codes, clusters, solver="best", seed=0, **options):
    return group(np.asarray(codes), np.asarray(clusters), solver, np.random.default_rng(seed), **options)


def example_one():
    return np.column_stack([np.unique(each, return_inverse=True)[1] for each in (AGES, OCCUPATIONS)])


@st.composite
def tables(draw):
    """Codes and clusters of up to 60 records."""
    clusters, groups, attributes = draw(st.integers(1, 6)), draw(st.integers(1, 10)), draw(st.integers(1, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    return small_table(random, clusters=clusters, groups=groups, attributes=attributes, values=draw(st.integers(1, 6)))


class TestThePapersExample:
    @for_each("solver", SOLVERS)
    def test_six_stars_are_needed_and_proven_to_be(self, solver):
        grouping = grouped(example_one(), INCOME_CLUSTERS, solver)

        assert (grouping.stars, grouping.lower_bound, grouping.group_of_record.max() + 1) == (6, 6, 4)

    def test_no_partition_has_fewer(self):
        assert fewest_stars(example_one(), INCOME_CLUSTERS) == 6

    def test_three_stars_are_in_each_attribute(self):
        codes = example_one()

        stars = starred(codes, grouped(codes, INCOME_CLUSTERS).group_of_record)

        assert stars.sum(axis=0).tolist() == [3, 3]
        # Managers below 30 are in every cluster once, and professors of 30 to 50 can be.
        assert not stars[6:9].any()


@pytest.mark.long
@for_each("size", SIZES)
def test_solvers_keep_what_is_proven_of_them(size):
    clusters, groups, attributes, values = size
    random = np.random.default_rng(groups * attributes)
    for seed in range(20):
        codes, at = small_table(random, clusters=clusters, groups=groups, attributes=attributes, values=values)
        least = fewest_stars(codes, at)

        groupings = {solver: grouped(codes, at, solver, seed) for solver in SOLVERS}

        assert all(each.lower_bound <= least <= each.stars for each in groupings.values())
        assert groupings["matching"].stars <= min(max(clusters - 1, 1), attributes) * least
        assert groupings["identical"].stars <= attributes * least
        assert groupings["best"].stars <= min(groupings["matching"].stars, groupings["identical"].stars)


@for_each("solver", ["matching", "best"])
@for_each("seed", range(25))
def test_two_clusters_are_solved_exactly_and_proven_so(solver, seed):
    random = np.random.default_rng(seed)
    codes, at = small_table(random, clusters=2, groups=5, attributes=3, values=3)

    grouping = grouped(codes, at, solver)

    assert grouping.stars == grouping.lower_bound == fewest_stars(codes, at)


@for_each("clusters", [2, 3])
def test_no_masking_without_groups_has_fewer_stars(clusters):
    random = np.random.default_rng(clusters)
    for _ in range(8):
        codes, at = small_table(random, clusters=clusters, groups=6 // clusters, attributes=2, values=2)

        assert fewest_of_any_masking(codes, at) == fewest_stars(codes, at)


@given(tables(), st.sampled_from(SOLVERS), st.integers(0, 100))
def test_every_output_is_independent_in_exact_numbers(table, solver, seed):
    codes, clusters = table

    grouping = grouped(codes, clusters, solver, seed)
    stars = starred(codes, grouping.group_of_record)

    vectors = [tuple(row) for row in np.where(stars, MASKED, codes).tolist()]
    assert is_exactly_independent(vectors, clusters.tolist())
    assert is_independent(np.where(stars, MASKED, codes), clusters)
    assert grouping.stars == stars.sum() >= grouping.lower_bound


@given(tables(), st.sampled_from(SOLVERS))
def test_a_group_has_a_record_of_each_cluster(table, solver):
    codes, clusters = table

    grouping = grouped(codes, clusters, solver)

    size = clusters.max() + 1
    pairs = np.unique(np.column_stack([grouping.group_of_record, clusters]), axis=0)
    assert len(pairs) == len(codes) == (grouping.group_of_record.max() + 1) * size


@given(tables(), st.sampled_from(SOLVERS), st.integers(0, 100))
def test_the_same_seed_finds_the_same_groups(table, solver, seed):
    one, other = (grouped(*table, solver, seed).group_of_record for _ in range(2))

    np.testing.assert_array_equal(one, other)


def test_many_attributes_are_grouped_and_bounded_too():
    random = np.random.default_rng(0)
    for _ in range(3):
        codes, at = small_table(random, clusters=3, groups=3, attributes=24, values=2)
        codes[:, 5] = 0

        grouping = grouped(codes, at)

        assert grouping.lower_bound <= fewest_stars(codes, at) <= grouping.stars
        assert is_independent(np.where(starred(codes, grouping.group_of_record), MASKED, codes), at)


class TestDegenerateTables:
    @for_each("solver", SOLVERS)
    def test_of_one_cluster_nothing_is_masked(self, solver):
        codes = np.arange(12).reshape(6, 2)

        grouping = grouped(codes, np.zeros(6, dtype=np.int64), solver)

        assert (grouping.stars, grouping.lower_bound, grouping.group_of_record.max() + 1) == (0, 0, 6)

    @for_each("solver", SOLVERS)
    def test_of_constant_attributes_nothing_is_masked(self, solver):
        assert grouped(np.zeros((6, 2), dtype=np.int64), [0, 1, 2] * 2, solver).stars == 0

    @for_each("solver", SOLVERS)
    def test_where_no_values_are_equal_all_are_masked_and_have_to_be(self, solver):
        grouping = grouped(np.arange(12).reshape(6, 2), [0, 1, 2] * 2, solver)

        assert grouping.stars == grouping.lower_bound == 12

    @for_each("solver", SOLVERS)
    def test_as_many_clusters_as_records_make_one_group(self, solver):
        grouping = grouped([[0, 1], [0, 2], [0, 1]], [2, 0, 1], solver)

        assert (grouping.group_of_record.max() + 1, grouping.stars) == (1, 3)

    @for_each("solver", SOLVERS)
    def test_codes_may_be_far_apart(self, solver):
        codes = np.array([[1 << 61, 0, 1 << 61], [1 << 61, 1, 7]])

        assert grouped(codes, [0, 1], solver).stars == 4


class TestRefusals:
    @for_each(
        ("codes", "clusters", "reason"),
        [
            (np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64), "a record and an attribute"),
            (np.zeros((2, 0), dtype=np.int64), np.array([0, 1]), "a record and an attribute"),
            (np.zeros((2, 1), dtype=np.int64), np.array([0]), "every record must have a cluster"),
            (np.array([[0], [-1]]), np.array([0, 1]), "must be 0 or more"),
            (np.zeros((3, 1), dtype=np.int64), np.array([0, 1, 1]), "of equal size"),
            (np.zeros((2, 1), dtype=np.int64), np.array([0, 2]), "of equal size"),
        ],
    )
    def test_say_what_is_wrong_with_the_table(self, codes, clusters, reason):
        with pytest.raises(ValueError, match=reason):
            grouped(codes, clusters)

    def test_name_the_solvers_there_are(self):
        with pytest.raises(ValueError, match="choose one of matching, identical, best"):
            grouped([[0]], [0], "worst")


class TestLongWork:
    def test_says_how_far_it_is_to_the_end(self):
        steps = []
        codes, at = small_table(np.random.default_rng(0), clusters=4, groups=20, attributes=4, values=4)

        grouped(codes, at, "best", progress=lambda done, most: steps.append((done, most)))

        done, most = zip(*steps, strict=True)
        assert list(done) == sorted(done)
        assert len(set(most)) == 1
        assert done[-1] == most[-1]

    def test_stops_with_what_it_has(self):
        codes, at = small_table(np.random.default_rng(0), clusters=4, groups=60, attributes=5, values=4)

        early = grouped(codes, at, "best", stop=lambda: True)

        assert is_independent(np.where(starred(codes, early.group_of_record), MASKED, codes), at)
        assert grouped(codes, at, "best").stars < early.stars
