"""The frontier and its knee, against plain Python that compares every pair of points."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aegis_advisor.ranking import knee, unbeaten

# Few different numbers, so that many points are equal on some axes or on all.
TABLES = st.integers(1, 4).flatmap(
    lambda axes: st.lists(st.tuples(*[st.integers(0, 4)] * axes), min_size=1, max_size=25)
)


def beats(one, other):
    return all(a <= b for a, b in zip(one, other, strict=True)) and one != other


@given(TABLES)
def test_the_frontier_has_all_points_that_no_other_beats_and_none_besides(points):
    front = unbeaten(np.array(points, dtype=float)).tolist()
    assert front == [not any(beats(other, point) for other in points) for point in points]
    for point, is_on in zip(points, front, strict=True):
        on = [other for other, is_other_on in zip(points, front, strict=True) if is_other_on]
        assert is_on == (not any(beats(other, point) for other in on))


def test_a_large_frontier_has_every_point_of_a_line_or_the_first_ones():
    line = np.arange(20_000.0)
    trade = np.column_stack([line, -line, line % 7])
    assert unbeaten(trade).all()
    assert np.flatnonzero(unbeaten(trade, 300)).tolist() == list(range(unbeaten(trade, 300).sum()))
    assert 300 <= unbeaten(trade, 300).sum() < 1_000
    assert np.flatnonzero(unbeaten(np.column_stack([line, line]))).tolist() == [0]


def test_points_far_apart_in_the_order_beat_each_other():
    costs = np.random.default_rng(5).integers(0, 12, (2_000, 4)).astype(float)  # more than are compared at a time
    beating = (costs <= costs[:, np.newaxis]).all(axis=2) & (costs < costs[:, np.newaxis]).any(axis=2)
    assert unbeaten(costs).tolist() == (~beating.any(axis=1)).tolist()


def signed_distance(point, first, last):
    """How far a point is from a line, by the closest of many points on it; 0 on the wrong side."""
    steps = [step / 1000 for step in range(-1000, 2001)]
    line = [[a + step * (b - a) for a, b in zip(first, last, strict=True)] for step in steps]
    closest = min(line, key=lambda each: math.dist(each, point))
    return math.dist(closest, point) if sum(closest) > sum(point) else 0.0


@given(TABLES)
def test_the_knee_is_the_farthest_point_on_the_better_side_of_the_line_between_the_ends(points):
    front = sorted(point for point in points if not any(beats(other, point) for other in points))
    least, most = map(min, zip(*front, strict=True)), map(max, zip(*front, strict=True))
    limits = list(zip(least, most, strict=True))
    scaled = [[(x - low) / (high - low or 1) for x, (low, high) in zip(point, limits, strict=True)] for point in front]
    distances = [signed_distance(point, scaled[0], scaled[-1]) for point in scaled]
    place, distance = knee(np.array(front, dtype=float))
    assert math.isclose(distance, max(distances), abs_tol=2e-3)
    assert distances[place] >= max(distances) - 2e-3


def test_a_frontier_that_bends_the_wrong_way_has_its_first_end_as_knee():
    assert knee(np.array([[0.0, 1.0], [0.9, 0.9], [1.0, 0.0]])) == (0, 0.0)
    assert knee(np.array([[0.0, 1.0], [0.1, 0.1], [1.0, 0.0]]))[0] == 1
    assert knee(np.array([[3.0, 7.0]])) == (0, 0.0)
