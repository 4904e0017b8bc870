"""The attacker's measures are the advisor's."""

import numpy as np
import pytest

from aegis_advisor.arrays import FloatArray
from aegis_advisor.measures import MEASURES
from research.leakage.utilities import HIGHER_IS_BETTER, SAME_SHARES, utilities


def _tables() -> FloatArray:
    """Tables of any size, some with empty rows or labels."""
    rng = np.random.default_rng(0)
    tables = [rng.multinomial(rng.integers(5, 3000), rng.dirichlet(np.full(12, 0.5))).reshape(4, 3) for _ in range(60)]
    for place, table in enumerate(tables):
        if place % 3 == 0:
            table[rng.integers(4)] = 0
        if place % 7 == 0:
            table[:, 0] = 0
    return np.array([table for table in tables if table.sum() > 2], dtype=np.float64)


@pytest.mark.parametrize("name", HIGHER_IS_BETTER)
def test_each_measure_agrees_with_the_advisors(name: str) -> None:
    measure = MEASURES[name.rstrip("*")]
    expected = measure.corrected() if name.endswith("*") else measure
    tables = _tables()
    np.testing.assert_allclose(utilities(tables)[name], [expected(table) for table in tables], rtol=1e-9, atol=1e-12)
    assert HIGHER_IS_BETTER[name] == (measure.better == "higher")


def test_no_measure_is_missing() -> None:
    known = {name.rstrip("*") for name in HIGHER_IS_BETTER} | set(SAME_SHARES)
    assert known == {measure.id for measure in MEASURES.values() if not measure.is_joint}


@pytest.mark.parametrize(("name", "other"), SAME_SHARES.items())
def test_measures_left_out_differ_by_a_factor_that_maskings_do_not_change(name: str, other: str) -> None:
    for table in _tables():
        merged = np.array([table[:2].sum(axis=0), table[2:].sum(axis=0)])
        alone = table.sum(axis=0, keepdims=True)
        shares = [_share(measure, table, merged, alone) for measure in (name, other)]
        assert shares[0] == pytest.approx(shares[1], abs=1e-9)


def _share(name: str, table: FloatArray, merged: FloatArray, alone: FloatArray) -> float:
    whole, kept, without = (MEASURES[name](each) for each in (table, merged, alone))
    return (kept - without) / (whole - without) if abs(whole - without) > 1e-9 else 1.0
