"""Properties of measures and their gradients on every table, above all on degenerate ones."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from aegis_advisor.atoms import AtomStatistics
from aegis_advisor.measures import MEASURES
from tests.advisor.cases import random_table
from tests.for_each import for_each

EVERY_MEASURE = for_each("measure", MEASURES.values())
COUNTS = st.one_of(st.just(0), st.integers(1, 3), st.integers(0, 10**6), st.integers(2**46, 2**47))
WITH_GRADIENT = for_each("measure", [one for one in MEASURES.values() if one.has_errors])
TABLES = arrays.arrays(np.int64, arrays.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=COUNTS)
LIMITS = {None: np.inf, "bit": np.log2(6) + 1e-9, "fraction": 1.0}


@given(table=TABLES)
@example(table=np.array([[112_826_727_459_733, 387_221]]))  # one class is rare beyond the precision of doubles
@EVERY_MEASURE
def test_values_are_finite_and_in_their_range(measure, table):
    """Empty rows and columns, single cells, one label, tables up to 2^53 give numbers without a warning."""
    value = measure(table.astype(float))
    assert type(value) is float  # not a NumPy type, which JSON does not support
    assert 0 <= value <= LIMITS[measure.unit]
    assert np.isfinite(measure.sampling_bias(table.astype(float)))
    if measure.correction:
        assert type(measure.corrected()(table.astype(float))) is float
        assert np.isfinite(measure.corrected().sampling_bias(table.astype(float)))
    if measure.has_errors:
        gradient = measure.gradient(table.astype(float))
        assert gradient.shape == table.shape
        assert np.isfinite(gradient).all()
        assert not gradient[table == 0].any()
    assert np.isfinite(measure.second_order(table.astype(float)))


@given(table=TABLES, drawn=st.permutations(range(7)))
@for_each("measure", [one for one in MEASURES.values() if one.monotone])
def test_merging_two_rows_never_improves_what_is_monotone(measure, table, drawn):
    table = np.vstack([table, table[:1]]).astype(float)
    first, second = [row for row in drawn if row < table.shape[0]][:2]
    merged = np.delete(table, second, axis=0)
    merged[first - (second < first)] += table[second]
    before, after = measure(table), measure(merged)
    noise = 1e-9 * max(1.0, abs(before))
    assert after <= before + noise if measure.better == "higher" else after >= before - noise


def test_what_is_monotone_in_the_label_is_so_in_every_table_and_nothing_else_is():
    """All tables of three values and three labels with at most a record in a cell, and every merge of two labels."""
    tables = np.array(list(product(range(2), repeat=9)), dtype=float).reshape(-1, 3, 3)
    merged = np.stack([tables, np.roll(tables, 1, axis=2), np.roll(tables, 2, axis=2)])
    merged = np.concatenate([merged[..., :1] + merged[..., 1:2], merged[..., 2:]], axis=3)
    outcomes = {}
    for measure in MEASURES.values():
        sign = 1.0 if measure.better == "higher" else -1.0
        before = np.array([sign * measure(table) for table in tables])
        after = np.array([[sign * measure(table) for table in one] for one in merged])
        outcomes[measure.id] = bool((after <= before + 1e-9).all())
    # Of one attribute it is `joint`: interactions are those of several.
    assert outcomes.pop("joint_interactions")
    assert outcomes == {one: MEASURES[one].label_monotone for one in outcomes}


@given(data=st.data(), atoms=st.integers(1, 4), labels=st.integers(1, 4))
def test_atoms_stand_for_their_values(data, atoms, labels):
    atom_of_value = np.concatenate(
        [np.arange(atoms), data.draw(arrays.arrays(np.int64, 5, elements=st.integers(0, atoms - 1)))]
    )
    histogram = data.draw(arrays.arrays(np.int64, atoms + 5, elements=st.integers(0, 50)))
    weights = data.draw(arrays.arrays(np.int64, (atoms, labels), elements=st.integers(0, 4)))
    shares = (weights + (weights.sum(1, keepdims=True) == 0)) / np.maximum(weights.sum(1, keepdims=True), 1)
    shares /= shares.sum(1, keepdims=True)
    full = histogram[:, None] * shares[atom_of_value]
    collapsed = np.stack([full[atom_of_value == atom].sum(0) for atom in range(atoms)])
    statistics = AtomStatistics.counted(atom_of_value.astype(np.int32), atoms, histogram)
    of_atoms = {measure.id: measure(collapsed, statistics) for measure in MEASURES.values()}
    # The root in V turns an error of 1e-16 into 1e-8.
    assert of_atoms == pytest.approx({measure.id: measure(full) for measure in MEASURES.values()}, abs=1e-7)


def slopes_by_differences(measure, table):
    """Central differences less their common part, since a sample of N records does not vary in that direction."""
    step = 1e-4
    slopes = np.zeros(table.shape)
    for cell in np.ndindex(table.shape):
        shift = np.zeros(table.shape)
        shift[cell] = step
        slopes[cell] = (measure(table + shift) - measure(table - shift)) / (2 * step)
    return slopes - np.average(slopes, weights=table)


@WITH_GRADIENT
@for_each("seed", range(8))
def test_the_gradient_is_that_of_finite_differences(measure, seed):
    rng = np.random.default_rng(seed)
    table = (random_table(rng, values=int(rng.integers(2, 7)), labels=int(rng.integers(2, 5))) + 3) * rng.uniform(
        0.9, 1.1
    )
    table = table + rng.random(table.shape)  # no two counts tie
    gradient = measure.gradient(table)
    gradient = gradient - np.average(gradient, weights=table)
    expected = slopes_by_differences(measure, table)
    np.testing.assert_allclose(gradient, expected, atol=1e-6 * max(np.abs(expected).max(), 1e-6))


@WITH_GRADIENT
def test_the_gradient_of_atoms_is_that_of_their_values(measure):
    """Three values with equal counts form an atom: each of its records is a record of one of them."""
    rng = np.random.default_rng(1)
    thirds = rng.integers(1, 9, (4, 3)).astype(float)
    full, atom_of_value = np.repeat(thirds, 3, axis=0), np.repeat(np.arange(4), 3).astype(np.int32)
    statistics = AtomStatistics.uniform(atom_of_value, 3 * thirds.sum(axis=1))
    np.testing.assert_allclose(measure.gradient(3 * thirds, statistics), measure.gradient(full)[::3], atol=1e-12)
    assert measure.second_order(3 * thirds, statistics) == pytest.approx(measure.second_order(full))
