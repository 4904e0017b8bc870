"""Random rounding: to multiples of the base next to each count, unbiased on average, and declared."""

import copy
import secrets
from collections import Counter
from math import sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aegis_provider.control import ControlError, RandomRounding, Roles, refuse_conflicts
from aegis_provider.control.rounding import rounded_to
from aegis_sdk.wire import EntryDocument
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


@given(st.lists(st.integers(0, 2**53 - 1), min_size=1), st.integers(2, 2**53 - 1))
def test_a_count_becomes_a_multiple_next_to_it_and_stays_if_it_is_one(counts, base):
    before = np.array(counts, dtype=np.int64)
    after = rounded_to(before, base, secrets.token_bytes)
    assert np.all(after % base == 0)
    assert np.all(abs(after - before) < base)
    assert np.all((after == before) | (before % base > 0))


@pytest.mark.parametrize(("count", "base"), [(1, 5), (7, 5), (2, 3), (9, 10), (1, 1000)])
def test_rounding_is_off_by_nothing_on_average(count, base):
    draws = 200_000
    after = rounded_to(np.full(draws, count), base, secrets.token_bytes)
    up = count % base / base
    # Seven standard errors: a chance of less than 3e-12.
    assert abs(after.mean() - count) < 7 * base * sqrt(up * (1 - up) / draws)
    assert len(Counter(after.tolist())) == 2


def test_words_that_would_favour_some_numbers_are_drawn_again():
    words = [2**64 - 1, 2, 2**64 - 1, 1]

    def random_bytes(size):
        found, words[: size // 8] = words[: size // 8], []
        return np.array(found, dtype=np.uint64).tobytes()

    # Since 2**64 % 3 is 1, only the word 2**64 - 1 is beyond the last multiple of 3; 2 and 1 are drawn instead.
    assert rounded_to(np.array([4, 5]), 3, random_bytes).tolist() == [3, 6]
    assert words == []


@given(RECORDS, st.integers(2, 6))
def test_all_counts_of_an_entry_are_rounded_and_say_so(records, base):
    assume(len({record[-1] for record in records}) > 1)
    entry = entry_of(records, CONFIGURATIONS, joint=("a",))
    after = rounded(entry, base).entry
    assert all(count % base == 0 for count in all_counts(after))
    assert after["records"] == sum(after["label"]["histogram"])
    assert {after["label"]["rounded_to"], *(each["rounded_to"] for each in joints(after).values())} == {base}
    assert after["disclosure_control"] == {"rounded_to": base}
    assert not any({"histogram", "joint"} & each.keys() for each in after["attributes"])
    assert entry == entry_of(records, CONFIGURATIONS, joint=("a",))
    EntryDocument.model_validate(copy.deepcopy(after))


def test_unmasked_counts_become_a_masking_that_nobody_applies():
    records = [(str(number % 8), "xa", "ny"[number % 2]) for number in range(80)]
    entry = entry_of(records, CONFIGURATIONS, joint=("a",))
    entry["attributes"][0]["maskings"][0]["id"] = "unmasked"
    entry["configurations"][1]["maskings"] = {"a": "unmasked", "b": "as-it-is"}
    held = rounded(entry, 5)
    assert list(joints(held.entry)) == [
        *(("a", name) for name in ("unmasked", "odd", "gone", "unmasked-2")),
        *(("b", name) for name in ("first", "as-it-is")),
    ]
    unmasked = joints(held.entry)["a", "unmasked-2"]
    assert unmasked["domain"] == held.entry["attributes"][0]["domain"]
    assert unmasked["mapping"] == list(range(8))
    assert unmasked["joint"] == [[10, 0] if row % 2 == 0 else [0, 10] for row in range(8)]
    assert held.changes.tables == ("histogram of a", "histogram of b", "suppressed of raw")
    assert [each.get("suppressed") for each in held.entry["configurations"]] == [None, None]


def test_merging_comes_before_rounding():
    records = [("0", "xa", "n")] * 9 + [("0", "xa", "y")] * 9 + [("2", "xa", "y")] * 3 + [("4", "xa", "y")] * 7
    records += [("6", "xa", "n")] * 9
    held = rounded(entry_of(records, [{"id": "c", "maskings": {"a": "twos", "b": "drop"}}]), 18, min_cell=5)
    [merged] = held.changes.merged
    assert [(group.values, group.text) for group in merged.groups] == [(("2+", "4+"), "2+ to 4+")]
    assert held.entry["disclosure_control"] == {"min_cell": 5, "rounded_to": 18}
    assert set(all_counts(held.entry)) <= {0, 18, 36}


def test_a_table_of_which_rounding_leaves_nothing_is_refused():
    entry = entry_of([("0", "xa", "n"), ("1", "xb", "y")], CONFIGURATIONS)
    with pytest.raises(ControlError, match="no record is left"):
        controlled(entry, [RandomRounding(1000, lambda size: bytes([240] * size))], ROLES)


def test_pairs_are_refused():
    records = [("0", "xa", "n"), ("1", "xb", "y")] * 10
    entry = entry_of(records, CONFIGURATIONS, pairs=[("twos", "as-it-is")])
    with pytest.raises(ControlError, match="pair counts are exact"):
        rounded(entry, 5)


@pytest.mark.parametrize(
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
