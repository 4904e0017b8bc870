"""The minimum cell count: what is left of an entry is counted again from its records."""

import copy
from collections import Counter
from dataclasses import replace
from itertools import chain, combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aegis_provider import ControlError, MinimumCell, RandomRounding, TableError, document_of, load_plan, prepare_entry
from aegis_provider.control import Beside, Roles, apply_controls
from aegis_provider.counting.merged_table import MergedMasking
from aegis_provider.disclosure import disclose
from aegis_sdk.wire import EntryDocument
from tests.examples import at_most
from tests.provider.control.counted_entries import RECORDS, all_counts, entry_of, masked_values, recounted
from tests.service import publication

PLAN = """label: y
quasi_identifiers: [a, b]
attributes:
  a:
    maskings:
      twos: {bucketize: {width: 2}}
      threes: {bucketize: {width: 3}}
      parity: {mapping: {"0": e, "1": o, "2": e, "3": o, "4": e, "5": o, "6": e, "7": o}}
      gone: {suppress: {}}
  b: {maskings: {first: {blur: {keep: 1}}, coded: {mapping: {xa: A, xb: A, ya: A, yb: B, z: B}}}}
configurations:
  raw: {a: identity, b: identity}
  fine: {a: twos, b: first}
  odd: {a: parity, b: coded}
  other: {a: threes, b: first}
  none: {a: gone, b: drop}
privacy: {fine: {k: 2, t: 0.5, delta_disclosure: 1}}
"""
SHARED = PLAN.replace("  raw: {a: identity, b: identity}\n", "")
IDS = ["raw", "fine", "odd", "other", "none"]


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    """The plan with unmasked attributes, and the plan without."""
    folder = tmp_path_factory.mktemp("plans")
    loaded = []
    for name, text in (("plan", PLAN), ("shared", SHARED)):
        path = folder / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        loaded.append(load_plan(path))
    return loaded


def table_of(records):
    columns = zip(*records, strict=True)
    return pa.table({name: pa.array(column, pa.string()) for name, column in zip("aby", columns, strict=True)})


def prepared(records, plan, least, **options):
    """Return what is prepared from records with frequent labels."""
    labels = Counter(record[-1] for record in records)
    assume(len(labels) > 1 and min(labels.values()) >= least)
    return prepare_entry(table_of(records), plan, [MinimumCell(least)], name="t", **options)


@pytest.mark.long
@at_most(40)
@given(RECORDS, st.integers(2, 9), st.booleans(), st.booleans())
def test_no_count_is_small_and_every_configuration_stays(plans, records, least, unmasked, pairs):
    held = prepared(records, plans[not unmasked], least, pairs=pairs)
    entry = document_of(held.entry)
    assert all(count == 0 or count >= least for count in all_counts(entry))
    assert entry["disclosure_control"] == {"min_cell": least}
    assert [each["id"] for each in entry["configurations"]] == IDS[not unmasked :]
    EntryDocument.model_validate(copy.deepcopy(entry))
    publication(entry)


@pytest.mark.long
@at_most(40)
@given(RECORDS, st.booleans())
def test_the_verdict_finds_no_small_count(plans, records, unmasked):
    held = prepared(records, plans[not unmasked], 5, pairs=True)
    findings = disclose(held.entry).judged.verdict.findings
    # Rarely the sample of tables by which it decides is too small.
    assert {finding.reason for finding in findings} <= {"undecided"}


def test_the_verdict_is_a_pass(plans):
    random = np.random.default_rng(7)
    columns = random.integers(0, 8, 400).astype(str), random.choice(["xa", "xb", "ya", "yb", "z"], 400)
    records = list(zip(*(column.tolist() for column in columns), random.choice(["n", "y"], 400).tolist(), strict=True))
    for plan in plans:
        held = prepare_entry(table_of(records), plan, [MinimumCell(5)], name="t", pairs=True)
        assert disclose(held.entry).judged.verdict.passed


@at_most(40)
@given(RECORDS, st.integers(2, 9), st.booleans())
def test_no_difference_of_what_two_tables_show_is_small(plans, records, least, unmasked):
    entry = document_of(prepared(records, plans[not unmasked], least).entry)
    for attribute in entry["attributes"]:
        tables = [(each["mapping"], each["joint"]) for each in attribute["maskings"]]
        if "joint" in attribute:
            tables.append((list(range(len(attribute["domain"]))), attribute["joint"]))
        has, counts = (np.array(each) for each in zip(*chain(*(shown_unions(*one) for one in tables)), strict=True))
        larger, smaller = np.nonzero((has[:, None] >= has).all(axis=2))
        differences = counts[larger] - counts[smaller]
        assert ((differences == 0) | (differences >= least)).all()


def shown_unions(mapping, joint):
    """Yield up to three masked values together: for each listed value whether they have it, and their counts."""
    for groups in chain.from_iterable(combinations(range(len(joint)), size) for size in (1, 2, 3)):
        yield (
            [group in groups for group in mapping],
            [sum(column) for column in zip(*(joint[group] for group in groups), strict=True)],
        )


@pytest.mark.long
@at_most(40)
@given(RECORDS, st.integers(2, 9))
def test_every_masking_counts_the_records_as_the_plan_masks_them(plans, records, least):
    held = prepared(records, plans[0], least)
    merged = {(each.attribute, each.masking): each for each in held.controlled.changes.merged}
    before = document_of(prepare_entry(table_of(records), plans[0], exact=True, name="t").entry)
    labels = held.entry.label.domain
    for place, attribute in enumerate(held.entry.attributes):
        for masking in attribute.maskings:
            old = masked_values(before, place, masking.id)
            change = merged.get((attribute.name, masking.id))
            assert masking.joint == recounted(records, place, change.masked if change else old, masking.domain, labels)
            if change is not None:
                became = {value: group.text for group in change.groups for value in group.values}
                assert change.masked == {value: became.get(masked, masked) for value, masked in old.items()}
                assert all(len(group.values) > 1 for group in change.groups)


@pytest.mark.long
@at_most(40)
@given(RECORDS, st.integers(2, 6))
def test_pair_counts_are_exact_or_rounded_to_the_minimum(plans, records, least):
    held = prepared(records, plans[0], least, pairs=True)
    before = document_of(prepare_entry(table_of(records), held.plan, exact=True, name="t").entry)
    for pair in held.entry.pairs:
        exact = None if "identity" in pair.maskings else pair_counts(records, before, pair)
        assert pair.with_label.rounded_to == least
        if pair.joint is None or exact is None:  # it was left out, or is of values that are merged
            continue
        if pair.rounded_to is None:
            assert pair.joint == exact
        else:
            cells = zip(chain.from_iterable(pair.joint), chain.from_iterable(exact), strict=True)
            assert pair.rounded_to == least
            assert all(count % least == 0 and abs(count - true) < 2 * least for count, true in cells)


def pair_counts(records, entry, pair):
    views = [masked_values(entry, place, masking) for place, masking in enumerate(pair.maskings)]
    domains = [
        next(each["domain"] for each in entry["attributes"][place]["maskings"] if each["id"] == masking)
        for place, masking in enumerate(pair.maskings)
    ]
    counts = Counter((views[0][a], views[1][b]) for a, b, _ in records)
    return [[counts[row, column] for column in domains[1]] for row in domains[0]]


@pytest.mark.long
@at_most(40)
@given(RECORDS, st.integers(2, 9))
def test_the_plan_that_goes_with_the_entry_needs_no_merging(plans, records, least):
    held = prepared(records, plans[0], least)
    again = prepare_entry(table_of(records), held.plan, [MinimumCell(least)], name="t")
    assert not again.controlled.changes.merged
    assert document_of(again.entry)["attributes"] == document_of(held.entry)["attributes"]


def test_what_pairs_tell_of_the_label_is_rounded(plans):
    records = [(a, b, y) for a in "01" for b in ("xa", "ya") for y in "ny" for _ in range(9)]
    held = prepare_entry(table_of(records), plans[0], [MinimumCell(5)], name="t", pairs=True)
    assert held.entry.pairs
    assert {pair["with_label"]["rounded_to"] for pair in document_of(held.entry)["pairs"]} == {5}


MANY = [(str(number % 8), "xa", "ny"[number % 2]) for number in range(160)]


class TestOfOneTable:
    def test_a_rare_label_is_refused_before_pairs_are_counted(self, plans):
        told = []
        records = [*MANY, ("0", "xa", "rare")]
        with pytest.raises(
            TableError, match=r"the label 'y' has values with fewer .* 5, 'rare' only 1; merge them with"
        ):
            prepare_entry(
                table_of(records),
                plans[0],
                [MinimumCell(5)],
                name="t",
                pairs=True,
                progress=lambda *at: told.append(at),
            )
        assert not told

    def test_rare_labels_are_merged_where_that_is_asked_for(self, plans):
        records = [*MANY, *[("0", "xa", "rare")] * 2, *[("0", "xa", "odd")] * 4]
        held = prepare_entry(
            table_of(records), plans[0], [MinimumCell(5, merge_rare_labels=True)], name="t", pairs=True
        )
        assert held.entry.label.domain == ["n", "rare values", "y"]
        assert held.entry.label.histogram == [80, 6, 80]
        assert held.controlled.changes.listed()["merged_labels"] == [
            {"values": ["odd", "rare"], "became": "rare values"}
        ]
        assert all(count == 0 or count >= 5 for count in all_counts(document_of(held.entry)))
        assert held.plan.label == "y"

    def test_a_table_with_fewer_records_than_the_minimum_is_refused(self, plans):
        with pytest.raises(TableError, match="has 160 records, fewer than the minimum cell count of 500"):
            prepare_entry(table_of(MANY), plans[0], [MinimumCell(500, merge_rare_labels=True)], name="t")

    def test_domains_that_become_one_value_leave_an_entry(self, plans):
        records = [(a, "xa", y) for a in "01234567" for y in "ny"]
        held = prepare_entry(table_of(records), plans[1], [MinimumCell(8)], name="t", pairs=True)
        assert [len(each.domain) for each in held.entry.attributes] == [1, 1]
        assert len(held.entry.configurations) == 4

    def test_rounding_must_not_show_smaller_counts(self, plans):
        with pytest.raises(
            ControlError, match=r"multiples of 4 shows counts below .* of 5; choose a base of 5 or more"
        ):
            prepare_entry(table_of(MANY), plans[0], [RandomRounding(4), MinimumCell(5)], name="t")
        records = [(a, "z" if a == "0" else "xa", y) for a, _, y in MANY]
        held = prepare_entry(table_of(records), plans[0], [RandomRounding(7), MinimumCell(5)], name="t", pairs=True)
        assert all(count % 7 == 0 for count in all_counts(document_of(held.entry)))
        assert {each.rounded_to for each in held.entry.pairs if each.joint is not None} == {7}
        assert {each.with_label.rounded_to for each in held.entry.pairs} == {7}

    def test_an_entry_that_was_counted_without_merging_is_refused(self):
        entry = entry_of([*MANY, ("8", "xa", "n")], [{"id": "c", "maskings": {"a": "twos", "b": "drop"}}])
        with pytest.raises(ControlError, match="'a' has counts below 5: masked values are merged while the table"):
            apply_controls(EntryDocument.model_validate(entry), [MinimumCell(5)], Roles((), ()))

    def test_a_masking_without_a_mapping_is_rounded(self, plan_of):
        plan = plan_of(
            "{a: {maskings: {pram: {randomised_response: {keep: 0.97}}}}, b: {}}", "{c: {a: pram, b: drop}}\nseed: 3"
        )
        records = [("0", "xa", "n")] * 100 + [("1", "xa", "y")] * 100
        held = prepare_entry(table_of(records), plan, [MinimumCell(7)], name="t")
        [masking] = held.entry.attributes[0].maskings
        assert masking.rounded_to == 7
        assert all(count % 7 == 0 for row in masking.joint for count in row)
        assert held.controlled.changes.rounded == ("a, pram",)
        assert [each.id for each in held.entry.configurations] == ["c"]

    def test_merged_classes_keep_what_they_vouch_for_but_delta_disclosure(self, plans):
        records = [(a, b, y) for a, _, y in MANY if a != "6" for b in ("xa", "yb")] + [("6", "xa", "n")]
        fine, *others = plans[1].configurations
        asked = replace(plans[1], configurations=(replace(fine, required={"delta_disclosure": 1, "k": 2}), *others))
        held = prepare_entry(table_of(records), asked, [MinimumCell(21)], name="t")
        assert "twos" in {each.masking for each in held.controlled.changes.merged}
        assert held.controlled.changes.privacy == {"fine": ("delta_disclosure",)}
        assert held.entry.configurations[0].privacy == {"k": 2, "t": 0.5}
        assert held.plan.configuration("fine").required == {"k": 2}

    def test_merged_sensitive_values_are_fewer_and_more_frequent(self):
        names = ("k", "l", "entropy_l", "t", "ordered_t", "alpha", "beta", "delta_disclosure", "epsilon")
        configuration = {"id": "c", "maskings": {"a": "twos", "b": "drop"}, "privacy": dict.fromkeys(names, 1)}
        entry = EntryDocument.model_validate(entry_of(MANY, [{**configuration, "suppressed": 0}]))
        beside = Beside(merged=(MergedMasking("a", "twos", (), {}),))
        held = apply_controls(entry, [MinimumCell(5)], Roles(("b",), ("a",)), beside=beside)
        [left] = held.entry.configurations
        assert list(left.privacy) == ["k", "t", "beta", "epsilon"]
        assert (held.changes.recount, left.suppressed) == (("c",), None)
        held = apply_controls(entry, [MinimumCell(5)], Roles(("b",), ("y",)), beside=beside)
        assert held.entry.configurations == entry.configurations
