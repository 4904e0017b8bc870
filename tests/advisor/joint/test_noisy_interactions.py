"""Interactions by noisy numbers: noise is never one, and a strong one is still found."""

from dataclasses import replace

import numpy as np

from aegis_advisor.evidence import PairAssociation
from aegis_advisor.joint.interactions import Judge

RECORDS, ROWS, COLUMNS = 10_000, 4, 5


def told(rng, shares):
    """The exact association and pair counts of records whose label has a share in each combination (rows, columns)."""
    cells = rng.multinomial(RECORDS, np.full(ROWS * COLUMNS, 1 / (ROWS * COLUMNS)))
    positive = rng.binomial(cells, np.ravel(shares))
    counts = np.stack([cells - positive, positive], axis=1)
    expected = np.outer(cells, counts.sum(axis=0)) / RECORDS
    chi_square = float(((counts - expected) ** 2 / expected).sum())
    known = PairAssociation((0, 1), ("a", "b"), chi_square, cells.size)
    return known, counts.sum(axis=0), cells.reshape(ROWS, COLUMNS)


def with_noise(rng, known, labels, scale):
    noise = rng.laplace(0, scale, labels.size)
    moved = known.chi_square + float((noise * RECORDS / labels).sum())
    more = round(rng.laplace(0, scale))
    return replace(known, chi_square=max(0.0, moved), combinations=max(1, known.combinations + more), noise_scale=scale)


def share(known, labels, cells):
    return Judge(labels, 6).share(known, cells, 0.0, ROWS + COLUMNS - 2)


def test_noise_is_never_an_interaction():
    rng = np.random.default_rng(0)
    shares = np.full((ROWS, COLUMNS), 0.4)
    found = 0
    for _ in range(300):
        known, labels, cells = told(rng, shares)
        found += share(with_noise(rng, known, labels, 20.0), labels, cells) > 0
    assert found == 0


def test_a_strong_interaction_is_found_and_not_made_larger():
    rng = np.random.default_rng(1)
    shares = np.where(np.add.outer(np.arange(ROWS), np.arange(COLUMNS)) % 2, 0.2, 0.6)
    known, labels, cells = told(rng, shares)
    exact = share(known, labels, cells)
    noisy = [share(with_noise(rng, known, labels, 5.0), labels, cells) for _ in range(50)]
    assert exact > 0.1
    assert 0 < np.mean(noisy) < exact
