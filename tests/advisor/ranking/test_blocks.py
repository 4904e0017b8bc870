"""Looking up many configurations at once equals looking them up one by one."""

import numpy as np

from aegis_advisor.ranking.order import CHUNK, COMBINATIONS, CodeBlocks
from tests.for_each import for_each

SIZES = [
    [1],
    [7],
    [3, 1, 4],
    [6] * 17,
    [COMBINATIONS + 5, 2, 3],
    [70_000, 3],
]


def drawn(sizes, configurations=60, dtype=np.int64):
    rng = np.random.default_rng(0)
    return np.column_stack([rng.integers(0, size, configurations) for size in sizes]).astype(dtype)


@for_each("sizes", SIZES)
@for_each("configurations", [1, 60, 2 * CHUNK + 17])
@for_each("width", [(), (3,)])
def test_sums_are_those_of_the_single_lookups(sizes, configurations, width):
    rng = np.random.default_rng(1)
    codes = drawn(sizes, configurations)
    lookups = [rng.random((size, *width)) for size in sizes]
    expected = sum(lookup[codes[:, at]] for at, lookup in enumerate(lookups))
    blocks = CodeBlocks.of(codes, sizes)
    assert len(blocks) == configurations
    np.testing.assert_allclose(blocks.sums(lookups), expected, rtol=1e-12)
    rows = rng.permutation(configurations)[: configurations // 2]
    np.testing.assert_allclose(blocks.sums(lookups, rows), expected[rows], rtol=1e-12)


@for_each("sizes", SIZES)
def test_codes_come_back_and_the_used_ones_are_known(sizes):
    codes = drawn(sizes)
    blocks = CodeBlocks.of(codes, sizes)
    assert [blocks.options_of(at) for at in range(60)] == codes.tolist()
    for at, used in enumerate(blocks.used()):
        np.testing.assert_array_equal(np.flatnonzero(used), np.unique(codes[:, at]))


@for_each("dtype", [np.int8, np.uint8, np.int16, np.uint64])
def test_any_type_of_codes_is_taken(dtype):
    codes = drawn([6] * 17, dtype=dtype)
    np.testing.assert_array_equal(CodeBlocks.of(codes, [6] * 17).codes, CodeBlocks.of(drawn([6] * 17), [6] * 17).codes)


def test_what_no_configuration_uses_may_be_no_number():
    blocks = CodeBlocks.of(np.array([[0, 2], [1, 2]]), [3, 3])
    assert blocks.sums([np.array([1, 2, np.nan]), np.array([np.nan, np.nan, 4])]).tolist() == [5, 6]


def test_no_configurations_are_blocks_too():
    blocks = CodeBlocks.of(np.empty((0, 2), dtype=int), [3, 4])
    assert len(blocks) == 0
    assert [used.tolist() for used in blocks.used()] == [[False] * 3, [False] * 4]
    assert blocks.sums([np.ones(3), np.ones(4)]).size == 0
