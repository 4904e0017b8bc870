"""Levels that are chosen with noise: the threshold against exact sums, the grid against what it must hold."""

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.errors import TableError
from aegis_provider.records import Column
from aegis_provider.synth.generate.methods import differential_privacy as private
from aegis_provider.synth.generate.methods.differential_privacy import Budget, private_levels, threshold_of
from aegis_provider.table.values import ValueType
from tests.for_each import for_each

LABEL = ("yes", "no")
HARDLY_ANY_NOISE = 1e6


def column_of(name, texts):
    return Column.of(name, pa.array([str(each) for each in texts]), ValueType.STRING)


def levels_of_one(texts, kind, rho=HARDLY_ANY_NOISE):
    """Return the column and its levels, beside a label."""
    column = column_of("a", texts)
    label = column_of("y", [LABEL[each % 2] for each in range(len(texts))])
    [levels, _], labels = private_levels([column, label], [kind, None], rho, 1e-9)
    assert labels == ["no", "yes", ""]
    return column, levels


@given(st.floats(0.3, 300), st.floats(-12, -0.5).map(lambda each: 10**each))
def test_one_record_reaches_the_threshold_with_a_probability_of_at_most_delta(deviation, delta):
    """Compare with the sum of the exact probabilities of discrete Gaussian noise."""
    reach = math.ceil(12 * deviation) + 3
    noise = np.arange(-reach, reach + 1)
    weights = np.exp(-(noise**2) / (2 * deviation**2))

    def probability(threshold):
        return weights[1 + noise >= threshold].sum() / weights.sum()

    threshold = threshold_of(deviation, delta)
    assert probability(threshold) <= delta
    assert probability(threshold - 3) > delta  # so no larger than needed


@pytest.mark.long
def test_a_value_of_one_record_becomes_a_level_hardly_more_often_than_delta_says():
    """With a delta so large that it can be seen: 4,000 draws have a standard deviation of 19."""
    column = column_of("a", [*["often"] * 1_000, "once"])
    delta, drawn = 0.1, 4_000
    seen = sum(len(private._of_categories(column, 0.02, delta)[1]) == 2 for _ in range(drawn))
    assert 0 < seen <= delta * drawn + 6 * 19


def test_with_hardly_any_noise_frequent_categories_are_levels_and_others_share_one():
    column, levels = levels_of_one(["x"] * 50 + ["y"] * 7 + ["z"] * 4 + [""] * 6, ValueType.STRING)
    assert levels.size == 4
    assert levels.positions is None
    texts = dict(zip(column.domain.texts, levels.of_value.tolist(), strict=True))
    assert texts["z"] == 3
    assert levels.missing == texts[""]
    drawn = levels.decoder.drawn(np.repeat([texts["x"], texts["z"]], 50), np.random.default_rng(0))
    assert set(drawn[:50]) == {"x"}
    assert "z" not in drawn


def test_no_category_that_is_rare_is_told_of_in_the_message_either():
    rare = [f"v{each}" for each in range(40)]
    with pytest.raises(TableError, match=r"^'a': no value stands out from the noise; ") as raised:
        levels_of_one(rare, ValueType.STRING)
    assert "40" not in str(raised.value)
    with pytest.raises(TableError, match=r"^the label 'y' has fewer than two values that stand out"):
        private_levels([column_of("y", ["yes"] * 40)], [None], 1.0, 1e-9)


@for_each(
    ("texts", "kind"),
    [
        ([each % 7 - 3 for each in range(200)], ValueType.INTEGER),
        ([f"{each % 9 / 4}" for each in range(200)], ValueType.NUMBER),
        ([f"1970-01-{1 + each % 9:02d}" for each in range(200)], ValueType.DATE),
    ],
)
def test_with_hardly_any_noise_frequent_numbers_have_levels_of_their_own(texts, kind):
    column, levels = levels_of_one(texts, kind)
    codes = levels.encode(column)
    assert len(set(codes)) == len(set(texts))
    drawn = levels.decoder.drawn(codes, np.random.default_rng(0))
    keys = (lambda text: text) if kind == ValueType.DATE else Decimal
    assert list(map(keys, drawn)) == [keys(str(each)) for each in texts]


NUMBERS = st.one_of(
    st.integers().map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(lambda each: f"{each:f}"),
    st.dates().map(str),
    st.sampled_from(["", "x", "1e30", "-1e-30", "0.12345678901234567890", "9999-12-31", "0001-01-01"]),
)


@given(
    st.lists(NUMBERS, min_size=2, max_size=30),
    st.sampled_from([ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE]),
    st.sampled_from([1e-3, 1.0, HARDLY_ANY_NOISE]),
)
def test_whatever_is_written_has_a_level_and_what_is_drawn_is_of_the_type(texts, kind, rho):
    column = column_of("a", texts)
    levels = private._of_numbers(column, kind, rho)
    assert ((levels.of_value >= 0) & (levels.of_value < levels.size)).all()
    assert levels.shares.sum() == pytest.approx(1)
    assert (np.diff(levels.positions[levels.missing == 0 :]) > 0).all() if levels.positions is not None else True
    for text in levels.decoder.drawn(np.arange(levels.size), np.random.default_rng(0)):
        if text and kind == ValueType.DATE:
            dt.date.fromisoformat(text)
        elif text:
            assert kind == ValueType.NUMBER or Decimal(text) == int(Decimal(text))


def test_numbers_beyond_the_stretches_that_stand_out_are_moved_to_their_ends():
    texts = [10] * 40 + [11] * 40 + [1_000_000]
    column, levels = levels_of_one(texts, ValueType.INTEGER)
    drawn = levels.decoder.drawn(levels.encode(column), np.random.default_rng(0))
    assert set(drawn[:80]) == {"10", "11"}
    assert 8 <= int(drawn[-1]) <= 15  # of the power of 2 that 10 and 11 are in


@for_each("added", ["0", "7", "300", "-2", "0.25", "", "x", "b"])
def test_one_record_changes_no_histogram_by_more_than_one_and_all_noise_fits_the_budget(monkeypatch, added):
    """The noise of one table is given to the other as well, so that both make the same choices."""
    rng, budget = np.random.default_rng(0), Budget.of(1.0, 1e-9)
    numbers = [*map(str, rng.integers(0, 50, 800)), *["0.25"] * 100, *[""] * 100]
    kinds = [ValueType.INTEGER, ValueType.NUMBER, ValueType.STRING, None]
    columns = {"i": numbers, "n": numbers, "c": list("ab") * 500, "y": list(LABEL) * 500}
    with_one = {name: [*texts, added if name in "in" else texts[0]] for name, texts in columns.items()}
    asked, used = [], []

    def drawn(counts, deviation):
        asked.append((counts.copy(), deviation, real(counts, deviation)))
        return asked[-1][2]

    def replayed(counts, deviation):
        other, same, answer = asked[len(used)]
        assert deviation == same
        assert np.abs(counts - other).sum() <= 1
        used.append(1 / (2 * deviation**2))
        return answer

    real = private.noisy
    for noise, texts in ((drawn, columns), (replayed, with_one)):
        monkeypatch.setattr(private, "noisy", noise)
        made = [column_of(name, each) for name, each in texts.items()]
        private_levels(made, kinds, budget.levels, budget.rare)
    assert len(used) == len(asked)
    assert sum(used) <= budget.levels
