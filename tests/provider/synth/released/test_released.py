"""Distances and features of releases against loops over records and sets."""

import numpy as np
import pyarrow as pa
import pytest

from aegis_provider.synth.released import released as module
from aegis_provider.synth.released.released import NotUnderstood, Released, positions_of
from tests.for_each import for_each

MASKED = pa.table(
    {
        "age": ["[20,30)", "*", "45", "", "80+"],
        "income": ["", "*", "12.34", "<5", "20-40"],
        "town": ["north", "north | east", "*", "unheard", "w***"],
        "elsewhere": ["1", "2", "3", "4", "5"],
    }
)
ALLOWED = {
    "age": [lambda v: 20 <= v < 30, lambda _: True, 45, None, lambda v: v >= 80],
    "income": [None, lambda _: True, 12.34, lambda v: v < 5, lambda v: 20 <= v <= 40],
}
MISSING_TOO = {"age": [False, True, False, True, False], "income": [True, True, False, False, False]}
TOWNS = [{"north"}, {"north", "east"}, None, None, {"west"}]


def by_hand(texts, row, record, positions):
    """The mean distance of a record to a released one, value by value."""
    total = 0.0
    for name in ("age", "income"):
        value, allowed, may_be_missing = texts[name][row].as_py(), ALLOWED[name][record], MISSING_TOO[name][record]
        place = positions[name]
        if value == "":
            total += 0.0 if may_be_missing else 1.0
        elif allowed is None:
            total += 1.0
        elif callable(allowed):
            total += min(abs(at - place[float(value)]) for number, at in place.items() if allowed(number))
        else:
            numbers = sorted(place)
            total += abs(np.interp(allowed, numbers, [place[each] for each in numbers]) - place[float(value)])
    town = TOWNS[record]
    return (total + (town is not None and texts["town"][row].as_py() not in town)) / 3


@for_each("scale", ["rank", "range"])
@for_each("cells", [1 << 22, 16])
def test_distances_are_those_to_the_nearest_possible_value(people, as_records, monkeypatch, scale, cells):
    monkeypatch.setattr(module, "CELLS", cells)
    texts = people(60, 1)
    records = as_records(texts)
    released = Released.of(records, MASKED, scale=scale)
    positions = {}
    for name in ("age", "income"):
        column = records.column(name)
        positions[name] = {
            float(number): at
            for number, at in zip(column.numbers, positions_of(column, scale), strict=True)
            if not np.isnan(number)
        }
    found = np.concatenate([block for _, block in released.distances(records)])
    expected = [[by_hand(texts, row, record, positions) for record in range(5)] for row in range(60)]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert released.not_understood == {"town": NotUnderstood(0.2, ("aaaaaaa",))}
    assert released.names == ("age", "income", "town")


def test_positions_by_rank_are_shares_of_the_records_below(people, as_records):
    texts = people(60, 2)
    column = as_records(texts).column("income")
    numbers = np.array([float(each) for each in texts["income"].to_pylist() if each])
    for value, at in zip(column.numbers, positions_of(column), strict=True):
        expected = ((numbers < value) + (numbers == value) / 2).mean()
        assert np.isnan(at) if np.isnan(value) else at == pytest.approx(expected)


def test_shares_and_middles_are_means_over_the_possible_values(people, as_records):
    records = as_records(people(60, 3))
    released = Released.of(records, MASKED)
    town = released.column("town")
    places = records.column("town").domain.places
    shares = town.shares(np.arange(4), 4)[town.codes]
    assert shares[1, [places["north"], places["east"]]].tolist() == [0.5, 0.5]
    assert shares[2].tolist() == [0.25] * 4
    age = released.column("age")
    numbers, at = age.original.numbers, age.positions
    within = (numbers >= 20) & (numbers < 30)
    assert age.middles[age.codes[0]] == pytest.approx(at[within].mean())


def test_only_values_that_stand_for_themselves_can_be_copies(people, as_records):
    records = as_records(people(60, 3))
    released = Released.of(records, MASKED)
    only = {each.name: each.only[each.codes] for each in released.columns}
    assert only["town"].tolist() == [
        records.column("town").domain.places["north"],
        -1,
        -1,
        -1,
        records.column("town").domain.places["west"],
    ]
    assert only["income"][0] == records.column("income").missing
    assert (only["income"][1:] == -1).all()


def test_the_release_of_the_records_themselves_is_at_no_distance(people, as_records):
    records = as_records(people(40, 4))
    for released in (Released.as_it_is(records), Released.of(records, people(40, 4))):
        [(_, block)] = released.distances(records)
        assert (np.diag(block) == 0).all()
        assert not released.is_masked
