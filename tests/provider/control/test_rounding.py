"""Random rounding of an entry: to multiples of the base next to each count, in tables that still add up."""

import copy

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aegis_provider.control import ControlError, RandomRounding, Roles, base_for, refuse_conflicts
from aegis_sdk.wire import EntryDocument
from tests.for_each import for_each
from tests.provider.control.counted_entries import RECORDS, all_counts, controlled, controls_of, entry_of

ROLES = Roles(("a", "b"), ("y",))
CONFIGURATIONS = [
    {"id": "raw", "maskings": {"a": "identity", "b": "identity"}, "suppressed": 3},
    {"id": "fine", "maskings": {"a": "twos", "b": "as-it-is"}, "privacy": {"k": 2}},
]


def rounded(entry, base, **controls):
    return controlled(entry, controls_of(round_to=base, **controls), ROLES)


def joints(entry):
    return {(each["name"], one["id"]): one for each in entry["attributes"] for one in each["maskings"]}


@given(RECORDS, st.integers(2, 6))
def test_all_counts_of_an_entry_are_rounded_and_add_up(records, base):
    assume(len({record[-1] for record in records}) > 1)
    entry = entry_of(records, CONFIGURATIONS, pairs=[("twos", "as-it-is")])
    entry["pairs"][0]["with_label"] = {"chi_square": 12.3456, "combinations": 1234}
    try:
        after = rounded(entry, base).entry
    except ControlError:
        return  # a table so small that nothing is left
    assert all(count % base == 0 for count in all_counts(after))
    labels = after["label"]["histogram"]
    assert after["records"] == sum(labels)
    assert after["disclosure_control"] == {"rounded_to": base, "rounding": "once"}
    for attribute in after["attributes"]:
        joint = np.array(attribute["joint"])
        assert attribute["histogram"] == joint.sum(axis=1).tolist()
        assert labels == joint.sum(axis=0).tolist()
        for masking in attribute["maskings"]:
            sums = np.zeros((len(masking["domain"]), len(labels)), dtype=int)
            np.add.at(sums, masking["mapping"], joint)
            assert masking["joint"] == sums.tolist()
    [pair] = after["pairs"]
    assert pair["rounded_to"] == base
    assert pair["with_label"]["rounded_to"] == base
    EntryDocument.model_validate(copy.deepcopy(after))


@given(RECORDS, st.integers(2, 6))
def test_counts_of_values_of_nested_maskings_and_of_pairs_become_multiples_next_to_them(records, base):
    assume(len({record[-1] for record in records}) > 1)
    entry = entry_of(records, CONFIGURATIONS, pairs=[("twos", "as-it-is")])
    entry["attributes"][0]["maskings"] = [
        each for each in entry["attributes"][0]["maskings"] if each["id"] in {"twos", "gone"}
    ]
    try:
        after = rounded(entry, base).entry
    except ControlError:
        return
    [before], [pair] = entry["pairs"], after["pairs"]
    places = pair.get("counted_with") or alone(before["joint"])
    tables = [
        *((one["joint"], two["joint"], 1) for one, two in zip(entry["attributes"], after["attributes"], strict=True)),
        *((one["joint"], joints(after)[key]["joint"], 1) for key, one in joints(entry).items() if key[0] == "a"),
        (together(before["joint"], places), pair["joint"], pair["within"]),
    ]
    for exact, rounded_counts, within in tables:
        assert np.all(abs(np.array(exact) - np.array(rounded_counts)) < base * within)
    of_values = np.array(joints(after)["a", "twos"]["joint"]).sum(axis=1)
    assert np.array(pair["joint"]).sum(axis=1).tolist() == np.bincount(places[0], of_values, of_values.size).tolist()


def together(counts, places):
    """Pair counts, cell by cell, with those of values that are counted together at the place of one of them."""
    rows, columns = places
    return [
        [
            sum(
                count
                for own, at in zip(counts, rows, strict=True)
                for count, along in zip(own, columns, strict=True)
                if (at, along) == (row, column)
            )
            for column in range(len(columns))
        ]
        for row in range(len(rows))
    ]


def alone(counts):
    return [list(range(len(counts))), list(range(len(counts[0])))]


RAW = [{"id": "raw", "maskings": {"a": "identity", "b": "identity"}}]


def rounded_pair(records, base):
    """The exact counts of a pair, the published records of the values of both attributes, and the rounded pair."""
    entry = entry_of(records, RAW, pairs=[("identity", "identity")])
    after = rounded(entry, base).entry
    margins = [np.array(each["joint"]).sum(axis=1) for each in after["attributes"]]
    return np.array(entry["pairs"][0]["joint"]), margins, after["pairs"][0]


def test_values_with_few_records_are_counted_with_the_next_ones():
    records = [("1", "z", "n")] * 4 + [("2", "z", "y")] * 25 + [("3", "z", "y")] * 90 + [("4", "z", "y")]
    for _ in range(20):
        _, _, pair = rounded_pair(records, 5)
        assert pair["counted_with"] == [[1, 1, 2, 2], [0]]
        assert pair["joint"][0] == pair["joint"][3] == [0]
        assert pair["joint"][1][0] in {25, 30}
        assert pair["joint"][2][0] in {90, 95}


@for_each("base", [2, 5, 20])
def test_the_more_masked_values_or_the_larger_the_base_the_more_records_a_value_needs(base):
    records = [(f"{place:03}", str(name), "ny"[place % 2]) for place in range(140) for name in range(1, 10)]
    records += [(f"{place:03}", "x", "n") for place in range(9)]  # one for every 14 values is too few
    exact, margins, pair = rounded_pair(records, base)
    for places, published, cells in zip(pair["counted_with"], margins, (10, 140), strict=True):
        counted = np.bincount(places, published, len(places))
        assert counted[np.unique(places)].min() >= max(5, cells // 14 + 1, base) + 3 * base
    rows, columns = map(np.array, pair["counted_with"])
    assert columns[-1] == columns[-2]
    joint = np.array(pair["joint"])
    assert np.all(abs(joint.sum(axis=1) - np.bincount(rows, exact.sum(axis=1), 140)) <= base * exact.shape[1])
    assert np.all(joint[rows != np.arange(140)] == 0)
    assert joint.sum() == margins[0].sum()


def test_which_values_are_counted_together_follows_from_what_is_published():
    """A reader finds the same places, so they tell nothing."""
    draw = np.random.default_rng(7)
    for _ in range(20):
        sizes = draw.integers(1, 9, 60)
        records = [(f"{value:02}", str(n % 3), "ny"[n % 2]) for value, size in enumerate(sizes) for n in range(size)]
        _, (margin, _), pair = rounded_pair(records, 3)
        assert pair["counted_with"][0] == by_published(margin.tolist(), max(5, 3) + 3 * 3)


def by_published(margin, enough):
    """The place of each value: with the next ones until they have enough, and what is left with the last of these."""
    runs = [[]]
    for place in range(len(margin)):
        runs[-1].append(place)
        if sum(margin[each] for each in runs[-1]) >= enough:
            runs.append([])
    left = runs.pop()
    return [run[-1] for run in runs for _ in run] + [runs[-1][-1]] * len(left)


def test_not_many_counts_of_a_row_with_few_records_are_rounded_up():
    """Forty records of each value in as many of 200 cells: at most eight of them are 5."""
    draw = np.random.default_rng(1)
    records = [
        (f"{value:02}", f"{place:03}", "n") for value in range(40) for place in draw.choice(200, 40, replace=False)
    ]
    for _ in range(5):
        _, _, pair = rounded_pair(records, 5)
        joint = np.array(pair["joint"])
        rows = np.arange(40) if "counted_with" not in pair else np.array(pair["counted_with"][0])
        assert joint.sum(axis=1).tolist() == (40 * np.bincount(rows, minlength=40)).tolist()


@for_each(("promised", "published"), [(1, 1), (4, 1), (5, 5), (14, 10)])
def test_k_may_be_the_size_of_a_class_and_is_rounded_down(promised, published):
    records = [(str(number % 8), "xa", "ny"[number % 2]) for number in range(80)]
    configurations = [{"id": "c", "maskings": {"a": "twos", "b": "drop"}, "privacy": {"k": promised, "l": 2}}]
    [configuration] = rounded(entry_of(records, configurations), 5).entry["configurations"]
    assert configuration["privacy"] == {"k": published, "l": 2}


def test_equal_numbers_of_suppressed_records_become_equal_and_differ_from_entry_to_entry():
    controls = [RandomRounding(5) for _ in range(500)]
    assert all(each.suppressed(13) == each.suppressed(13) for each in controls)
    assert {each.suppressed(15) for each in controls} == {15}
    published = np.array([each.suppressed(13) for each in controls])
    assert set(published.tolist()) == {10, 15}
    assert published.mean() == pytest.approx(13, abs=0.5)


def test_counts_that_are_no_sums_of_others_are_rounded_by_themselves():
    records = [(str(number % 8), "xa", "ny"[number % 2]) for number in range(80)]
    entry = entry_of(records, CONFIGURATIONS, joint=("b",))
    secret = entry["attributes"][1]["maskings"][0]
    del secret["mapping"]
    secret["deterministic"] = True
    held = rounded(entry, 7)
    assert {(name, each["rounded_to"]) for (_, name), each in joints(held.entry).items() if "rounded_to" in each} == {
        *((name, 7) for name in ("twos", "odd", "gone", "first"))
    }
    assert "histogram" not in held.entry["attributes"][0]
    assert held.changes.tables == ("histogram of a",)


def test_a_table_of_which_rounding_leaves_nothing_is_refused():
    entry = entry_of([("0", "xa", "n"), ("1", "xb", "y")], CONFIGURATIONS)
    with pytest.raises(ControlError, match="with 2 records, rounding to multiples of 1000 leaves none"):
        controlled(entry, [RandomRounding(1000)], ROLES)


@for_each(("records", "base"), [(1, 3), (4_999, 3), (5_000, 5), (10**9, 5)])
def test_the_base_is_chosen_by_the_number_of_records(records, base):
    assert base_for(records) == base


@for_each(
    ("wrong", "message"),
    [
        ({"min_cell": 1}, "minimum cell count is 1; choose a number from 2"),
        ({"round_to": 2**53}, "the base is 9007199254740992"),
        ({"epsilon": 0.0}, "epsilon is 0"),
        ({"epsilon": float("nan")}, "epsilon is nan"),
        ({"epsilon": 1.0, "min_cell": 5}, "choose one of the two"),
        ({"epsilon": 1.0, "round_to": 5}, "not both"),
    ],
)
def test_controls_that_make_no_sense_are_refused(wrong, message):
    with pytest.raises(ControlError, match=message):
        refuse_conflicts(controls_of(**wrong))
