"""What tells a draft's causes apart: even groups that no label moves, and what masked values tell of a label."""

import numpy as np
import pytest
from statsmodels.api import OLS, add_constant

from aegis_provider.draft.merges import merge_any, merge_neighbours
from research.rivals import causes
from research.rivals.maskings import aegis
from research.rivals.maskings.recoding import Promise
from research.rivals.maskings.tables import Split
from research.study import Table


def records(number=400):
    """Return two masked columns of three and four values, and classes that depend on the first."""
    rng = np.random.default_rng(3)
    codes = np.stack([rng.integers(0, 3, number), rng.integers(0, 4, number)], axis=1)
    return codes, (rng.random(number) < 0.2 + 0.2 * codes[:, 0]).astype(np.int64)


def test_what_is_told_is_the_adjusted_r2_of_indicators():
    codes, classes = records()
    indicators = np.hstack([column[:, None] == np.arange(1, column.max() + 1) for column in codes.T])
    fit = OLS(classes.astype(float), add_constant(indicators.astype(float))).fit()
    assert causes.told(codes, classes) == pytest.approx(fit.rsquared_adj)


@pytest.mark.parametrize("merge", [merge_neighbours, merge_any])
def test_even_levels_are_those_of_any_label(merge):
    rng = np.random.default_rng(4)
    people = rng.integers(20, 90, 30)
    joints = [np.stack([yes := rng.binomial(people, rng.random(30)), people - yes], axis=1) for _ in range(2)]
    one, other = (aegis._even_levels(joint, merge, 40, (8, 4, 2)) for joint in joints)
    assert one == other
    assert not any(level.by_label for level in one)
    assert [len(level.groups) for level in one] == [8, 4, 2]


def test_a_division_is_compared_in_every_way_and_the_page_has_each_difference(tmp_path):
    codes, classes = records()
    columns = {f"c{place}": column.astype(str) for place, column in enumerate(codes.T)}
    found = causes.compared(Split.of(Table("small", "", "", columns, classes.astype(str)), 0), Promise(5))
    assert set(found) >= {name for pair in causes.COLUMNS.values() for name in pair}
    causes.write([(("k = 5", "small"), found)] * 2, tmp_path / "causes.md")
    difference = found[causes.DRAFTED] - found[causes.QUANTILES]
    assert f"| k = 5 | small | {difference:+.4f} ± 0.0000 |" in (tmp_path / "causes.md").read_text()
    assert len((tmp_path / "causes.csv").read_text().splitlines()) == 3
