"""What noise adds is measured by the service's own measure: a real interaction would be seen, and noise is not."""

import numpy as np
import pytest

from research.chance import noise_in_pairs
from research.chance.noise_in_pairs import CASES, Case, added


@pytest.mark.parametrize("case", CASES, ids=str)
def test_noise_adds_next_to_nothing(case):
    rng = np.random.default_rng(1)
    assert np.mean([added(case, rng) for _ in range(3)]) <= 0.01


def test_what_is_no_noise_is_seen(monkeypatch):
    columns = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]]).repeat(100, axis=1)
    drawn = iter(columns)
    monkeypatch.setattr(noise_in_pairs, "_drawn", lambda *_: next(drawn))
    assert added(Case(400, (2, 2), (0.5, 0.5)), np.random.default_rng(1)) == pytest.approx(1, abs=0.01)
