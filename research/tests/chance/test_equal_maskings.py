"""Maskings that are equal in the population are not called different, and those that differ are, by many samples."""

import pytest

from research.chance.equal_maskings import CASES, COMPARED, left_out

#: The share of samples in which an equally good masking may be called worse.
MOST = 0.08


@pytest.mark.long
def test_equal_maskings_are_rarely_called_worse():
    found = left_out(CASES[1], COMPARED, difference=0.0, samples=40, seed=1)
    # Of 40 samples at a true share of 4 %, more than 6 are improbable (1 in 1,500).
    assert {measure: one.less_chance for measure, one in found.items() if one.less_chance > 6 / 40} == {}
    assert found["mutual_information"].alone > 0.5


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=str)
def test_equal_maskings_are_called_worse_in_few_of_many_samples(case):
    found = left_out(case, COMPARED, difference=0.0, samples=200, seed=2)
    assert {measure: one.less_chance for measure, one in found.items() if one.less_chance > MOST} == {}


def test_what_differs_is_seen():
    found = left_out(CASES[5], ["mutual_information", "chi_square", "jensen_shannon"], 0.15, samples=20, seed=3)
    assert all(one.less_chance == 1 for one in found.values())
