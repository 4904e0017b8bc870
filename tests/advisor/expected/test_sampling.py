"""The interval of what a model should reach beyond its table, against simulated tables."""

import numpy as np
import pytest
from scipy.stats import rankdata

from aegis_advisor.expected import Expected, beyond_table

TABLES = 2_000


def auc(scores, positives):
    ranks = rankdata(scores)[:positives]
    return (ranks.sum() - positives * (positives + 1) / 2) / (positives * (len(scores) - positives))


@pytest.mark.parametrize(("records", "distance"), [(200, 1.0), (2_000, 0.5)])
def test_an_interval_of_an_auc_holds_nine_in_ten_tables(records, distance):
    random, half = np.random.default_rng(7), records // 2
    tables = random.standard_normal((TABLES, records)) + distance * (np.arange(records) < half)
    reached = np.array([auc(scores, half) for scores in tables])
    told = beyond_table(Expected(auc=reached.mean(), low=reached.mean(), high=reached.mean()), records, 2)
    assert np.mean((reached >= told.low) & (reached <= told.high)) == pytest.approx(0.9, abs=0.03)


def test_an_interval_of_r2_holds_nine_in_ten_tables():
    random, records, correlation = np.random.default_rng(8), 1_000, 0.5
    first = random.standard_normal((TABLES, records))
    second = correlation * first + np.sqrt(1 - correlation**2) * random.standard_normal((TABLES, records))
    reached = np.array([np.corrcoef(x, y)[0, 1] ** 2 for x, y in zip(first, second, strict=True)])
    told = beyond_table(Expected(r2=0.25, low=0.25, high=0.25), records, 2)
    assert np.mean((reached >= told.low) & (reached <= told.high)) == pytest.approx(0.9, abs=0.03)


def test_it_is_never_narrower_and_wider_for_fewer_records():
    given = Expected(auc=0.7, accuracy=0.8, low=0.69, high=0.71)
    widths = [one.high - one.low for one in (given, *(beyond_table(given, n, 3) for n in (10**9, 2_000, 200, 2)))]
    assert widths == sorted(widths)
    assert widths[1] == pytest.approx(widths[0], abs=1e-3)
    assert beyond_table(given, 2_000, 3).auc == 0.7
