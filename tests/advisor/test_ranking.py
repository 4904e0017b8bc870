import numpy as np
import pytest

from app.advisor.errors import NoConfigurationError
from app.advisor.ranking import CHUNK, rank


def ranked(deviations, information=None, tolerance=0.0, limit=None):
    """Configurations of one attribute, each with a masking of its own."""
    deviations = np.asarray(deviations, dtype=float)
    information = np.zeros_like(deviations) if information is None else np.asarray(information, dtype=float)
    return rank(
        np.arange(deviations.size)[:, None],
        deviations=[deviations],
        utilities=[10 - deviations],
        tie_utilities=[information],
        weights=np.ones(1),
        tolerance=tolerance,
        limit=limit,
    )


def test_the_smallest_deviation_is_first():
    found = ranked([0.3, 0.1, 0.2])
    assert found.order.tolist() == [1, 2, 0]
    assert (found.best, found.tied.tolist()) == (1, [1])
    np.testing.assert_array_equal(found.utilities, [9.9, 9.8, 9.7])


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
    """Take the smallest and all within the tolerance of it, in order of information; go on with the rest."""
    left, order = list(range(len(deviations))), []
    while left:
        smallest = min(deviations[at] for at in left)
        group = [at for at in left if deviations[at] <= smallest + tolerance]
        order += sorted(group, key=lambda at: (-information[at], at))
        left = [at for at in left if at not in group]
    return order


@pytest.mark.parametrize("tolerance", [0.0, 0.004, 0.05])
@pytest.mark.parametrize("limit", [None, 0, 1, 7, 40, 99])
@pytest.mark.parametrize("seed", range(5))
def test_the_order_is_that_of_its_definition_at_any_limit(tolerance, limit, seed):
    rng = np.random.default_rng(seed)
    deviations, information = rng.random(40).round(2), rng.integers(0, 3, 40)
    found = ranked(deviations, information, tolerance, limit)
    expected = by_definition(deviations, information, tolerance)
    assert found.order.tolist() == expected[:limit]
    assert found.best == expected[0]
    assert found.tied.tolist() == expected[: found.tied.size]


def test_chunks_and_weights_add_up_to_the_weighted_mean():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, (2 * CHUNK + 17, 3), dtype=np.uint8)
    lookup, weights = rng.random((3, 5)), np.array([0.5, 0.3, 0.2])
    found = rank(
        codes,
        deviations=lookup,
        utilities=2 * lookup,
        tie_utilities=lookup,
        weights=weights,
        tolerance=1e-9,
        limit=3,
    )
    expected = sum(weights[at] * lookup[at][codes[:, at]] for at in range(3))
    np.testing.assert_allclose(found.deviations, expected, rtol=1e-12)
    np.testing.assert_allclose(found.utilities, 2 * expected[found.order], rtol=1e-12)
    assert found.order.size == 3


def test_ranking_nothing_is_refused():
    with pytest.raises(NoConfigurationError):
        ranked([])
