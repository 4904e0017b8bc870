import numpy as np
import pytest

from aegis_advisor.reconstruction.ipf import fit_two_margins


def by_sweeps(seed, rows, columns, sweeps=4_000):
    """Scaling the whole table, one margin after the other, in extended precision."""
    table = seed.astype(np.longdouble)
    for _ in range(sweeps):
        for axis, wanted in ((1, rows), (0, columns)):
            held = table.sum(axis=axis)
            ratio = np.divide(wanted, held, out=np.zeros_like(held), where=held > 0)
            table = table * np.expand_dims(ratio, axis)
    return table.astype(np.float64)


@pytest.mark.parametrize("zeros", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_it_is_where_scaling_the_whole_table_leads(seed, zeros):
    rng = np.random.default_rng(seed)
    start = rng.random((30, 6)) * (rng.random((30, 6)) >= zeros)
    true = start * rng.gamma(2.0, size=(30, 1)) * rng.gamma(2.0, size=6)
    found = fit_two_margins(start, true.sum(axis=1), true.sum(axis=0), tolerance=1e-12)
    assert found.converged
    np.testing.assert_allclose(found.table, true, rtol=1e-8)
    np.testing.assert_allclose(found.table, by_sweeps(start, true.sum(axis=1), true.sum(axis=0)), rtol=1e-8)


def test_the_margins_hold_to_the_residual_it_says():
    rng = np.random.default_rng(9)
    start, rows, columns = rng.random((50, 4)), rng.random(50), rng.random(4)
    columns *= rows.sum() / columns.sum()
    found = fit_two_margins(start, rows, columns)
    gaps = np.abs(found.table.sum(axis=1) - rows).max(), np.abs(found.table.sum(axis=0) - columns).max()
    assert max(gaps) / rows.sum() == pytest.approx(found.residual, abs=1e-15)
    assert found.residual <= 1e-9


def test_a_seed_that_fits_no_margins_ends_unconverged():
    start = np.array([[1.0, 0.0], [1.0, 0.0]])
    found = fit_two_margins(start, np.array([1.0, 1.0]), np.array([0.5, 1.5]), sweeps=50)
    assert not found.converged
    assert found.sweeps == 50
    assert np.isfinite(found.table).all()


def test_empty_rows_and_columns_stay_empty():
    start = np.ones((3, 2))
    found = fit_two_margins(start, np.array([0.0, 2.0, 3.0]), np.array([5.0, 0.0]))
    np.testing.assert_array_equal(found.table, [[0, 0], [2, 0], [3, 0]])


@pytest.mark.parametrize(("rows", "columns"), [([1.0], [1.0]), ([1.0, 1.0], [1.0, 2.0])])
def test_margins_that_do_not_fit_are_refused(rows, columns):
    with pytest.raises(ValueError, match=r"margins|add up"):
        fit_two_margins(np.ones((2, 2)), np.array(rows), np.array(columns))
