"""Made-up tables of a size, and what is said about lines of measurements."""

import numpy as np
import pytest

from research.papers.growth import (
    BY_JOINT,
    BY_MI,
    EXHAUSTIVE,
    FOREST,
    Point,
    Size,
    drift,
    made,
    measured,
    slope,
    speeds,
)


def point(records, seconds, behind=0.0):
    accuracy = {"gold": [0.8, 0.82, 0.81], "MI": [0.8 - behind, 0.82 - behind, 0.81 - behind]}
    times = {EXHAUSTIVE: 10 * seconds, FOREST: 100 * seconds, BY_MI: seconds, BY_JOINT: seconds / 2}
    return Point(Size(records=records), accuracy, times, {})


def test_the_slope_is_the_power_of_the_size():
    line = [point(records, 0.001 * records**1.5) for records in (100, 1_000, 10_000)]
    assert slope(line, "records", BY_MI) == pytest.approx(1.5)
    assert speeds({"records": line}, FOREST) == pytest.approx([100, 100, 100])  # as long as the slower advice
    assert len(speeds({"records": line, "domain": line[1:]}, FOREST)) == 3  # what two axes share counts once


def test_drift_is_how_much_more_is_lost_at_the_end():
    line = [point(100, 1, 0.01), point(1_000, 1, 0.5), point(10_000, 1, 0.03)]
    assert drift(line, "MI").mean == pytest.approx(0.02)


def test_made_tables_have_their_size_and_tell_about_the_label():
    study = made(Size(records=400, attributes=3, configurations=5, domain=12))
    assert study.codes.shape == (400, 3)
    assert [one.values for one in study.evidence] == [12, 12, 12]
    assert len(study.configurations.ids) == 5
    first = study.codes[:, 0]
    assert abs(np.corrcoef(first, study.classes)[0, 1]) > 0.3


def test_what_is_kept_is_not_measured_again(tmp_path):
    size, axes = Size(records=300, attributes=2, configurations=3, domain=8), {"records": (300,)}
    once, again = (measured(axes, size, 2, tmp_path)["records"][0] for _ in range(2))
    assert once.seconds == again.seconds
    assert len(list(tmp_path.iterdir())) == 1
