"""The minimum cell count: what is left of an entry is counted again from its records."""

import copy
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aegis_provider.control import ControlError, MinimumCell, Roles
from aegis_sdk.wire import EntryDocument
from tests.provider.control.counted_entries import RECORDS, all_counts, entry_of, masked_values, recounted
from tests.provider.control.counted_entries import controlled as through
from tests.service import publication

ROLES = Roles(("a", "b"), ("y",))
CONFIGURATIONS = [
    {"id": "raw", "maskings": {"a": "identity", "b": "identity"}},
    {"id": "fine", "maskings": {"a": "twos", "b": "as-it-is"}, "privacy": {"k": 2, "t": 0.5, "delta_disclosure": 1}},
    {"id": "odd", "maskings": {"a": "odd", "b": "first"}},
    {"id": "none", "maskings": {"a": "drop", "b": "drop"}},
]
PAIRS = [("identity", "identity"), ("twos", "as-it-is"), ("odd", "first")]


def controlled(entry, least, roles=ROLES):
    return through(entry, [MinimumCell(least)], roles)


def hold(records, least, *, pairs=()):
    """Return the entry of the records, if their labels are frequent enough, and the controlled entry."""
    labels = Counter(record[-1] for record in records)
    assume(len(labels) > 1 and min(labels.values()) >= least)
    entry = entry_of(records, CONFIGURATIONS, pairs=pairs)
    return entry, controlled(entry, least)


@given(RECORDS, st.integers(2, 9))
def test_no_count_is_small_and_the_contract_and_the_service_take_the_entry(records, least):
    before, held = hold(records, least)
    assert all(count == 0 or count >= least for count in all_counts(held.entry))
    assert held.entry["disclosure_control"] == {"min_cell": least}
    assert before == entry_of(records, CONFIGURATIONS)
    EntryDocument.model_validate(copy.deepcopy(held.entry))
    publication(held.entry)


@given(RECORDS, st.integers(2, 9))
def test_every_masking_counts_the_records_by_its_own_mapping(records, least):
    _, held = hold(records, least)
    for place, attribute in enumerate(held.entry["attributes"]):
        for masking in attribute["maskings"]:
            masked = masked_values(held.entry, place, masking["id"])
            again = recounted(records, place, masked, masking["domain"], held.entry["label"]["domain"])
            assert masking["joint"] == again


@given(RECORDS, st.integers(2, 9))
def test_merged_values_are_unions_of_those_before_and_say_so(records, least):
    before, held = hold(records, least)
    for merged in held.changes.merged:
        place = ("a", "b").index(merged.attribute)
        old, new = (masked_values(entry, place, merged.masking) for entry in (before, held.entry))
        became = {value: group.text for group in merged.groups for value in group.values}
        assert new == merged.masked == {value: became.get(masked, masked) for value, masked in old.items()}
        assert all(len(group.values) > 1 for group in merged.groups)
        [masking] = [each for each in held.entry["attributes"][place]["maskings"] if each["id"] == merged.masking]
        assert masking["function"] == {"name": "mapping", "parameters": {"values": new}}


@given(RECORDS, st.integers(2, 9))
def test_what_is_left_out_is_what_had_small_counts_and_what_named_it(records, least):
    before, held = hold(records, least)
    gone = set(held.changes.maskings)
    for old, new in zip(before["attributes"], held.entry["attributes"], strict=True):
        name, small = old["name"], {field for field in ("histogram", "joint") if has_small(old[field], least)}
        assert old.keys() - new.keys() == small
        gone |= {(name, "identity")} if "joint" in small else set()
        ids = {each["id"] for each in new["maskings"]}
        assert {(name, each["id"]) for each in old["maskings"] if each["id"] not in ids} == {
            each for each in held.changes.maskings if each[0] == name
        }
    named = {each["id"] for each in CONFIGURATIONS if gone.intersection(each["maskings"].items())}
    assert held.changes.configurations.keys() == named
    assert {each["id"] for each in held.entry["configurations"]} == {each["id"] for each in CONFIGURATIONS} - named


def has_small(counts, least):
    cells = [cell for row in counts for cell in (row if isinstance(row, list) else [row])]
    return any(0 < cell < least for cell in cells)


@given(RECORDS, st.integers(2, 4))
def test_pairs_are_folded_as_their_maskings_were_and_left_out_where_they_are_small(records, least):
    before, held = hold(records, least, pairs=PAIRS)
    published = {tuple(pair["maskings"]): pair["joint"] for pair in held.entry["pairs"]}
    for maskings, joint in published.items():
        assert joint == pair_counts(records, held.entry, *maskings)
    left = {(each["maskings"]["a"], each["maskings"]["b"]) for each in held.entry["configurations"]}
    left -= {("drop", "drop")}
    for first, second in left - published.keys():
        small = f"pair counts of a ({first}) and b ({second})" in held.changes.tables
        follows = any(same_or_finer(held.entry, other, (first, second)) for other in published)
        assert small or follows
        assert small == has_small(pair_counts(records, held.entry, first, second), least)
    assert len(before["pairs"]) == 3


def test_what_pairs_tell_of_the_label_is_left_out():
    records = [(a, b, y) for a in "01" for b in ("xa", "ya") for y in "ny" for _ in range(9)]
    entry = entry_of(records, CONFIGURATIONS, pairs=PAIRS)
    for pair in entry["pairs"]:
        pair["with_label"] = {"chi_square": 0.0, "combinations": 4}
    held = controlled(entry, 5)
    assert held.entry["pairs"]
    assert not [pair for pair in held.entry["pairs"] if "with_label" in pair]
    assert "what 3 pairs tell of the label together (with_label)" in held.changes.tables


def pair_counts(records, entry, *maskings):
    views = [masked_values(entry, place, masking) for place, masking in enumerate(maskings)]
    counts = Counter((views[0][a], views[1][b]) for a, b, _ in records)
    domains = [domain_of(entry, place, masking) for place, masking in enumerate(maskings)]
    return [[counts[row, column] for column in domains[1]] for row in domains[0]]


def domain_of(entry, place, masking):
    attribute = entry["attributes"][place]
    ids = {each["id"]: each["domain"] for each in attribute["maskings"]}
    return {"identity": attribute["domain"], **ids}[masking]


def same_or_finer(entry, finer, coarser):
    """Return whether values that share a masked value in the finer maskings also share one in the coarser ones."""
    for place in range(2):
        fine, coarse = (masked_values(entry, place, maskings[place]) for maskings in (finer, coarser))
        if len(set(zip(fine.values(), (coarse[value] for value in fine), strict=True))) > len(set(fine.values())):
            return False
    return True


MANY = [(str(number % 8), "xa", "ny"[number % 2]) for number in range(160)]
FEW = [("0", "yb", "n")] * 2 + [("1", "yb", "y")] * 2


class TestOfOneEntry:
    def test_a_rare_label_is_refused_with_what_to_do(self):
        entry = entry_of([*MANY, ("0", "xa", "rare")], CONFIGURATIONS)
        with pytest.raises(ControlError, match=r"'y' is 'rare' in 1 records, fewer than the minimum cell count of 5"):
            controlled(entry, 5)

    def test_nothing_left_to_share_is_refused(self):
        entry = entry_of([*MANY, *FEW], CONFIGURATIONS[:1])
        with pytest.raises(ControlError, match=r"leaves none of the 1 configurations: .*shares b unmasked"):
            controlled(entry, 5)

    @pytest.mark.parametrize(
        "unmergeable", [{"deterministic": True}, {"transition": [[1.0, 0.0, 0.0]] * 3, "deterministic": False}]
    )
    def test_what_has_no_mapping_is_left_out(self, unmergeable):
        entry = entry_of([*MANY, *FEW, *[("0", "ya", "n"), ("0", "ya", "y")] * 5], CONFIGURATIONS[1:])
        masking = entry["attributes"][1]["maskings"][1]
        del masking["mapping"]
        masking |= unmergeable
        held = controlled(entry, 5)
        assert held.changes.maskings == (("b", "as-it-is"),)
        assert held.changes.configurations == {"fine": "masks b by as-it-is"}
        assert [each["id"] for each in held.entry["configurations"]] == ["odd", "none"]

    def test_a_masked_value_that_nobody_has_is_no_reason(self):
        entry = entry_of(MANY, CONFIGURATIONS)
        masking = entry["attributes"][0]["maskings"][0]
        masking["domain"].append("8+")
        masking["joint"].append([0, 0])
        assert not controlled(entry, 5).changes.changes_the_plan

    def test_merged_classes_keep_what_they_vouch_for_but_delta_disclosure(self):
        held = controlled(entry_of([*MANY, ("7", "yb", "n"), ("7", "yb", "y")], CONFIGURATIONS[1:]), 5)
        assert [each.masking for each in held.changes.merged] == []
        records = [record for record in MANY if record[0] != "3"] + [("9", "xa", "n"), ("9", "xa", "y")]
        held = controlled(entry_of(records, CONFIGURATIONS[1:]), 5)
        assert [each.masking for each in held.changes.merged] == ["twos"]
        assert held.changes.privacy == {"fine": ("delta_disclosure",)}
        assert held.entry["configurations"][0]["privacy"] == {"k": 2, "t": 0.5}

    def test_merged_sensitive_values_are_fewer_and_more_frequent(self):
        names = ("k", "l", "entropy_l", "t", "ordered_t", "alpha", "beta", "delta_disclosure", "epsilon")
        configuration = {**CONFIGURATIONS[1], "privacy": dict.fromkeys(names, 1), "suppressed": 0}
        records = [*MANY, ("9", "xa", "n"), ("9", "xa", "y")]
        held = controlled(entry_of(records, [configuration]), 5, Roles(("b",), ("a",)))
        assert list(held.entry["configurations"][0]["privacy"]) == ["k", "t", "beta", "epsilon"]
        assert held.changes.recount == ("fine",)
        assert "suppressed" not in held.entry["configurations"][0]
        held = controlled(entry_of(records, [configuration]), 5, Roles(("b",), ("y",)))
        assert held.entry["configurations"] == [configuration]
