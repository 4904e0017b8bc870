"""Interactions by rounded numbers: rounding is hardly ever one, and a strong one is still found."""

from dataclasses import replace

import numpy as np

from tests.advisor.joint.test_noisy_interactions import COLUMNS, ROWS, share, told

BASE = 5


def rounded(rng, known, cells):
    """The association with both numbers rounded up or down at random, and the pair counts to which that is done too."""
    unit = BASE * 2
    chi_square = unit * np.floor(known.chi_square / unit + rng.random())
    combinations = BASE * int(np.floor(known.combinations / BASE + rng.random()))
    less = BASE * np.floor(cells / BASE + rng.random(cells.shape)).astype(np.int64)
    return replace(known, chi_square=float(chi_square), combinations=combinations, rounded_to=BASE), less


def test_rounding_is_never_an_interaction():
    rng = np.random.default_rng(0)
    shares = np.full((ROWS, COLUMNS), 0.4)
    found = 0
    for _ in range(300):
        known, labels, cells = told(rng, shares)
        one, counts = rounded(rng, known, cells)
        found += share(one, labels, counts) > 0
    assert found == 0


def test_a_strong_interaction_is_found_and_is_as_large_on_average():
    rng = np.random.default_rng(1)
    shares = np.where(np.add.outer(np.arange(ROWS), np.arange(COLUMNS)) % 2, 0.3, 0.5)
    known, labels, cells = told(rng, shares)
    exact = share(known, labels, cells)
    inexact = [share(one, labels, counts) for one, counts in (rounded(rng, known, cells) for _ in range(200))]
    assert exact > 0.02
    assert min(inexact) > 0
    assert abs(np.mean(inexact) / exact - 1) < 0.01
