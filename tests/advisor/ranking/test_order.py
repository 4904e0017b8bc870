import numpy as np
import pytest

from aegis_advisor.errors import NoConfigurationError
from aegis_advisor.ranking.order import CodeBlocks, rank
from tests.for_each import for_each


def ranked(deviations, information=None, tolerance=0.0, limit=None):
    """Configurations of one attribute, each with its own masking."""
    deviations = np.asarray(deviations, dtype=float)
    information = np.zeros_like(deviations) if information is None else np.asarray(information, dtype=float)
    return rank(
        CodeBlocks.of(np.arange(deviations.size)[:, None], [deviations.size]),
        deviations=deviations,
        tie_utilities=lambda: [information],
        tolerance=tolerance,
        limit=limit,
    )


def test_the_smallest_deviation_is_first():
    found = ranked([0.3, 0.1, 0.2])
    assert found.order.tolist() == [1, 2, 0]
    assert (found.best, found.tied.tolist()) == (1, [1])


def test_ties_go_by_mutual_information_then_by_the_given_order():
    found = ranked([0.1, 0.1, 0.0, 0.0, 0.0], information=[1, 2, 5, 7, 7])
    assert found.order.tolist() == [3, 4, 2, 1, 0]
    assert found.tied.tolist() == [3, 4, 2]


def test_rounding_noise_decides_neither_ties_nor_their_order():
    found = ranked([0.1 + 1e-17, 0.1, 0.1 - 1e-16], information=[0.3, 0.1 + 0.2, 0.3 - 1e-16], tolerance=1e-9)
    assert found.order.tolist() == found.tied.tolist() == [0, 1, 2]


def test_a_tie_is_within_the_tolerance_of_the_smallest_not_of_the_next():
    found = ranked([0, 0.8, 1.6, 2.4, 9], information=[1, 2, 3, 4, 5], tolerance=1)
    assert found.tied.tolist() == [1, 0]
    assert found.order.tolist() == [1, 0, 3, 2, 4]


def by_definition(deviations, information, tolerance):
    """Take the smallest and all within its tolerance, in order of information, then continue with the rest."""
    left, order = list(range(len(deviations))), []
    while left:
        smallest = min(deviations[at] for at in left)
        group = [at for at in left if deviations[at] <= smallest + tolerance]
        order += sorted(group, key=lambda at: (-information[at], at))
        left = [at for at in left if at not in group]
    return order


@for_each("tolerance", [0.0, 0.004, 0.05])
@for_each("limit", [None, 0, 1, 7, 40, 99])
@for_each("seed", range(5))
def test_the_order_is_that_of_its_definition_at_any_limit(tolerance, limit, seed):
    rng = np.random.default_rng(seed)
    deviations, information = rng.random(40).round(2), rng.integers(0, 3, 40)
    found = ranked(deviations, information, tolerance, limit)
    expected = by_definition(deviations, information, tolerance)
    assert found.order.tolist() == expected[:limit]
    assert found.best == expected[0]
    assert found.tied.tolist() == expected[: found.tied.size]


@for_each("tolerance", [0.0, 0.05])
@for_each("seed", range(5))
def test_those_chosen_come_in_the_order_of_the_ranking(tolerance, seed):
    rng = np.random.default_rng(seed)
    deviations, information = rng.random(40).round(2), rng.integers(0, 3, 40)
    chosen = rng.random(40) < 0.3
    expected = [at for at in by_definition(deviations, information, tolerance) if chosen[at]]
    found = ranked(deviations, information, tolerance, limit=1)
    assert found.in_order(chosen, 40).tolist() == expected
    assert found.in_order(chosen, 3).tolist() == expected[:3]


def test_choosing_none_is_no_order():
    assert ranked([0.1, 0.2]).in_order(np.zeros(2, dtype=bool), 5).size == 0


def test_ranking_nothing_is_refused():
    with pytest.raises(NoConfigurationError):
        ranked([])
