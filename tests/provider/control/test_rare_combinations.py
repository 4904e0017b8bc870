"""Combinations with few records are merged before their association with the label is rounded."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_advisor.evidence import association_unit
from aegis_provider import MinimumCell, prepare_entry
from aegis_provider.counting.pair_cells import LEAST, PairCells
from aegis_provider.summary import summarize_shared
from tests.for_each import for_each

BASE = 5
SHAPES = st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(2, 3))


def cells_of(table):
    first, second, label = np.nonzero(table)
    return PairCells(first, second, label, table[first, second, label], table.shape)


def by_combination(cells):
    """The records (combinations, labels) of each combination that occurs."""
    counts = np.zeros(cells.shape, dtype=np.int64)
    np.add.at(counts, (cells.first, cells.second, cells.label), cells.counts)
    flat = counts.reshape(-1, cells.shape[2])
    return flat[flat.any(axis=1)]


@given(SHAPES, st.integers(1, 3_000), st.integers(0, 10**6))
def test_no_combination_is_rare_and_no_record_is_lost(shape, records, seed):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(np.prod(shape), 0.3))
    table = rng.multinomial(records, weights).reshape(shape)
    before, after = by_combination(cells_of(table)), by_combination(cells_of(table).without_rare())
    np.testing.assert_array_equal(after.sum(axis=0), before.sum(axis=0))
    assert after.sum(axis=1).min() >= min(LEAST, records)
    frequent = {tuple(row) for row in before.tolist() if sum(row) >= LEAST}
    kept = {tuple(row) for row in after.tolist()}
    assert len(frequent - kept) <= 1  # the rarest of them may have joined the others


def test_a_table_without_rare_combinations_tells_what_it_told():
    table = np.random.default_rng(1).integers(LEAST, 90, (4, 3, 2))
    assert cells_of(table).without_rare().with_label().chi_square == pytest.approx(
        cells_of(table).with_label().chi_square, rel=1e-12
    )


def rare_label(rare, size):
    """40 values in two groups each, 20,000 records, 100 with the rare label; one more value has `size` of them."""
    rng = np.random.default_rng(3)
    table = np.zeros((41, 2, 2), dtype=np.int64)
    table[:40, :, 0] = 249
    at = rng.choice(80, 100 - rare)
    np.add.at(table.reshape(82, 2), (at, np.ones_like(at)), 1)
    table[40, 0] = size - rare, rare
    return table


@for_each("size", [3, 8, 14])
def test_a_record_of_a_rare_label_moves_chi_square_by_less_than_its_unit(size):
    tables = [rare_label(rare, size) for rare in range(4)]
    unit = association_unit(BASE, tables[0].sum(axis=(0, 1)))
    alone = np.diff([cells_of(table).with_label().chi_square for table in tables])
    together = np.diff([cells_of(table).without_rare().with_label().chi_square for table in tables])
    assert abs(together).max() < unit / 5
    assert abs(alone).max() > 3 * abs(together).max()
    assert abs(alone).max() > BASE * 2  # the base times the number of label values does not hide it


def test_the_unit_grows_with_the_rarity_of_the_rarest_label_value_that_occurs():
    assert association_unit(5, np.array([50, 50])) == 10
    assert association_unit(5, np.array([0, 50, 50])) == 15
    assert association_unit(5, np.array([19_900, 100])) == pytest.approx(100)
    assert association_unit(5, np.array([0, 0])) > 0


@for_each("controls", [[], [MinimumCell(5)]])
def test_what_is_published_is_told_by_frequent_combinations(plan_of, controls):
    rng = np.random.default_rng(4)
    columns = {name: np.minimum(rng.geometric(0.1, 6_000), 40) for name in "ab"}
    columns["y"] = (rng.random(6_000) < 0.1 + 0.2 * (columns["a"] * columns["b"] % 3 == 0)).astype(int)
    table = pa.table({name: pa.array(each.astype(str)) for name, each in columns.items()})
    fine = "{type: integer, maskings: {pairs: {bucketize: {width: 2}}}}"
    plan = plan_of(f"{{a: {fine}, b: {fine}}}", "{c: {a: pairs, b: pairs}}")
    merging = next((each.merging for each in controls), None)
    [frequent] = summarize_shared(table, plan, name="t", pairs=True, merging=merging).told.frequent.values()
    held = prepare_entry(table, plan, controls, name="t", pairs=True)
    [every], [told] = ([pair.with_label for pair in entry.pairs] for entry in (held.counted, held.entry))
    assert frequent.combinations < every.combinations - 2 * BASE
    unit = association_unit(BASE, np.array(held.entry.label.histogram))
    assert abs(told.chi_square - frequent.chi_square) < unit + 0.01 * frequent.chi_square
    assert abs(told.combinations - frequent.combinations) < BASE + 0.01 * frequent.combinations
