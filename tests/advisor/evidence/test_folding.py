"""One mapping as a function of another, against the definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from aegis_advisor.arrays import IntArray, fold
from aegis_advisor.atoms import coarsening

GROUPS = 4
MAPPINGS = st.integers(0, 7).flatmap(
    lambda values: st.tuples(*(st.lists(st.integers(0, GROUPS - 1), min_size=values, max_size=values),) * 2)
)


def is_function(finer: list[int], coarser: list[int]) -> bool:
    """Whether no two values that agree on the finer mapping differ on the coarser one."""
    pairs = list(zip(finer, coarser, strict=True))
    return all(b == d for a, b in pairs for c, d in pairs if a == c)


@given(MAPPINGS)
def test_there_is_a_function_exactly_where_no_two_values_contradict_it(mappings: tuple[list[int], list[int]]) -> None:
    finer, coarser = (np.array(mapping, dtype=np.int64) for mapping in mappings)
    found = coarsening(finer, coarser, GROUPS)
    assert (found is not None) == is_function(*mappings)
    if found is not None:
        assert found.shape == (GROUPS,)
        assert_array_equal(found[finer], coarser)


@given(MAPPINGS.filter(lambda mappings: is_function(*mappings)))
def test_the_coarser_table_is_the_finer_one_folded(mappings: tuple[list[int], list[int]]) -> None:
    finer, coarser = (np.array(mapping, dtype=np.int64) for mapping in mappings)
    table: IntArray = np.arange(finer.size * 3).reshape(-1, 3) ** 2
    function = coarsening(finer, coarser, GROUPS)
    assert function is not None
    assert_array_equal(fold(fold(table, finer, GROUPS), function, GROUPS), fold(table, coarser, GROUPS))


def test_the_identity_is_finer_than_everything_and_a_constant_coarser() -> None:
    mapping = np.array([2, 0, 0, 1, 2])
    assert_array_equal(coarsening(np.arange(5), mapping, 5), mapping)
    assert_array_equal(coarsening(mapping, np.zeros(5, dtype=np.int64), 3), [0, 0, 0])
    assert coarsening(mapping, np.arange(5), 3) is None


def test_a_group_that_no_value_maps_to_goes_to_the_first() -> None:
    assert_array_equal(coarsening(np.array([1, 3]), np.array([1, 2]), 5), [0, 1, 0, 2, 0])
