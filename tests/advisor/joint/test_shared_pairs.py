"""Pair counts that several masked values have together are shared by them where joint measures read them."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aegis_advisor.evidence import PairCounts, Perturbation
from aegis_advisor.joint.pair_tables import PairTables
from tests.advisor.cases import evidence_of, mapped

ROWS, COLUMNS = 6, 4
TABLES = st.integers(0, 10**6).map(lambda seed: np.random.default_rng(seed).integers(0, 40, (ROWS, COLUMNS)))
PLACES = st.lists(st.booleans(), min_size=ROWS - 1, max_size=ROWS - 1)


def places_of(ends):
    """The place of each row: that of the next row that ends a group; the last row does."""
    places, at = [], ROWS - 1
    for row in range(ROWS - 1, -1, -1):
        at = row if row == ROWS - 1 or ends[row] else at
        places.append(at)
    return np.array(places[::-1])


def tables_of(counts, places, *, turned=False):
    """A pair whose rows are counted together; each attribute has its own counts with two label values."""
    first, second = ROWS, COLUMNS
    sums = counts.sum(axis=1), counts.sum(axis=0)
    halves = [np.stack([each // 2, each - each // 2], axis=1) for each in sums]
    coarse = mapped("coarse", [0, 0, 0, 1, 1, 1], halves[0])
    evidence = [evidence_of(halves[0], [coarse], joint=True), evidence_of(halves[1], [], joint=True, name="b")]
    pooled = np.zeros((first, second), dtype=np.int64)
    np.add.at(pooled, places, counts)
    pair = PairCounts(
        (0, 1), ("identity", "identity"), pooled, Perturbation(rounded_to=1 << 20), (places, np.arange(COLUMNS))
    )
    if turned:
        pair = replace(
            pair, attributes=(1, 0), joint=pooled.T, counted_with=(pair.counted_with[1], pair.counted_with[0])
        )
    return PairTables.of(evidence, [pair])


@given(TABLES, PLACES, st.booleans())
def test_each_value_has_its_part_of_what_is_counted_at_its_place(counts, ends, turned):
    places = places_of(ends)
    shared = tables_of(counts, places, turned=turned).estimate(0, "identity", 1, "identity")
    for place in np.unique(places):
        rows = places == place
        together, records = counts[rows].sum(axis=0), counts[rows].sum(axis=1)
        parts = records / records.sum() if records.sum() else np.full(rows.sum(), 1 / rows.sum())
        np.testing.assert_allclose(shared[rows], np.outer(parts, together), atol=1e-9)


@given(TABLES, PLACES)
def test_coarser_counts_add_up_shared_ones(counts, ends):
    tables = tables_of(counts, places_of(ends))
    shared = tables.estimate(0, "identity", 1, "identity")
    coarse = tables.estimate(0, "coarse", 1, "identity")
    np.testing.assert_allclose(coarse, np.stack([shared[:3].sum(axis=0), shared[3:].sum(axis=0)]), atol=1e-9)


def test_counts_by_themselves_stay_whole_numbers():
    counts = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    tables = tables_of(counts, np.arange(ROWS))
    np.testing.assert_allclose(tables.estimate(0, "identity", 1, "identity"), counts)
    assert tables.find(0, "identity", 1, "identity").dtype == np.int64
