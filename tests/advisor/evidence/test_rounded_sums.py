"""The variance of sums of counts that were rounded once, against what the provider's rounding does."""

from dataclasses import replace

import numpy as np
import pytest

from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.evidence.rounded import sum_variances
from aegis_provider.control.dependent_rounding import rounded_once, rounded_up
from aegis_provider.counting.counts import Partition
from tests.for_each import for_each
from tests.provider.control.drawing import drawn_by

VALUES, DRAWS = 24, 400
NESTED = [np.arange(VALUES) // 2, np.arange(VALUES) // 8]
CROSSING = [np.arange(VALUES) // 2, np.arange(VALUES) % 5, (np.arange(VALUES) + 1) // 6]


def evidence(mappings, base):
    maskings = [
        Masking(str(place), int(each.max()) + 1, each.astype(np.int64), None, deterministic=True)
        for place, each in enumerate(mappings)
    ]
    return AttributeEvidence("a", VALUES, np.array([base]), None, None, tuple(maskings), rounded_once=base)


def drawn(mappings, base):
    """The mean square of errors of the provider's rounding, by masking and group."""
    rng = np.random.default_rng(0)
    views = [Partition(each, int(each.max()) + 1) for each in mappings]
    squares = [np.zeros(view.size) for view in views]
    for _ in range(DRAWS):
        exact = rng.integers(50, 50 + base, (VALUES, 1))
        up = rounded_up(exact.sum(axis=0), base, drawn_by(rng))
        errors = (rounded_once(exact, views, base, up, drawn_by(rng)) - exact)[:, 0]
        for place, view in enumerate(views):
            squares[place] += np.bincount(view.groups, errors) ** 2 / DRAWS
    return squares


@for_each("mappings", [NESTED, CROSSING])
def test_it_is_that_of_the_provider(mappings):
    base = 40
    expected, told = drawn(mappings, base), sum_variances(evidence(mappings, base))
    for place, squares in enumerate(expected):
        assert told[str(place)].mean() == pytest.approx(squares.mean(), rel=0.2)
        assert np.all(abs(np.log(told[str(place)] / squares)) < 0.7)


def test_sums_that_cut_others_vary_more_and_those_that_nest_do_not():
    nested, crossing = (sum_variances(evidence(mappings, 5)) for mappings in (NESTED, CROSSING))
    assert np.allclose(np.concatenate([*nested.values()]), 25 / 6)
    assert crossing["1"].mean() > 2 * 25 / 6
    assert np.allclose(crossing["0"], 25 / 6)


@for_each("dtype", [np.int64, np.int32])
def test_equal_maskings_have_equal_variances(dtype):
    known = evidence(CROSSING, 5)
    maskings = tuple(replace(each, mapping=each.mapping.astype(dtype)) for each in known.maskings)
    one, other = sum_variances(known), sum_variances(replace(known, maskings=maskings))
    assert all(np.array_equal(one[name], other[name]) for name in one)
