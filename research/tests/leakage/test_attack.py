"""The attack on the coarse view finds nothing out that matters, and would notice if it did."""

import numpy as np
import pytest

from research.leakage import entries
from research.leakage.attack import attack
from research.leakage.posterior import alike


def test_a_table_is_recovered_if_only_its_order_is_unknown() -> None:
    true = np.array([[1, 2], [3, 4]])
    walks = np.array([true, true[::-1], true.T[::-1].T, [[1, 3], [2, 4]], [[2, 2], [3, 3]]])
    assert alike(walks, true).tolist() == [True, True, True, False, False]


@pytest.mark.long
def test_what_is_shown_of_small_entries_leaves_four_counts_in_five_open_and_recovers_nothing() -> None:
    outcomes = [attack(entries.drawn(seed), steps=1500, seed=seed) for seed in (2, 3, 8)]
    ratios, with_order = (np.concatenate([one[known].ratios for one in outcomes]) for known in ("values", "and order"))
    assert np.mean(ratios >= 0.8) > 0.8
    # Whoever knows the order, too, knows more: otherwise it was not used.
    assert np.mean(with_order >= 0.8) < np.mean(ratios >= 0.8)
    for one in outcomes:
        for outcome in one.values():
            assert not outcome.tables.any()
            assert not outcome.labels
