"""What suppression keeps is computed from records as the advisor computes it from counts."""

import numpy as np
import pytest

from aegis_advisor.measures.association import mean_square_adjustment, mean_square_contingency
from aegis_provider import open_table
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.plan.model import Configuration
from research import suppression
from tests import example


def test_of_one_column_the_adjusted_trace_is_that_of_the_advisor():
    chance = np.random.default_rng(3)
    column, classes = chance.integers(0, 5, 400), chance.integers(0, 3, 400)
    counts = np.zeros((5, 3))
    np.add.at(counts, (column, classes), 1)
    expected = mean_square_contingency(counts) - mean_square_adjustment(counts)
    assert suppression.adjusted_trace(column[:, np.newaxis], classes) == pytest.approx(expected)


def test_a_release_record_by_record_keeps_k_and_counts_its_cells(tmp_path):
    plan = suppression.plan_of(suppression.HEALTH, tmp_path, means=False)
    chosen = {each.name: each.maskings[-1].id if each.maskings else "identity" for each in plan.attributes}
    with open_table(example.TABLE) as opened:
        records = suppression.Records.of(CountedTable.of(opened, plan), plan)
    release = records.release(Configuration("c", chosen, {}, 0), 5, cells=True)
    _, sizes = np.unique(release.released[release.shown], axis=0, return_counts=True)
    assert sizes.min() >= 5
    assert 0 < release.cells == np.count_nonzero((release.released != release.masked)[release.shown])


@pytest.mark.parametrize("text", [suppression.HEALTH, suppression.ADULT, suppression.CREDIT])
def test_a_plan_has_intervals_that_nest_or_means(text, tmp_path):
    for means, name in ((False, "bucketize"), (True, "microaggregate")):
        plan = suppression.plan_of(text, tmp_path, means=means)
        assert name in {masking.function.name for each in plan.attributes for masking in each.maskings}
