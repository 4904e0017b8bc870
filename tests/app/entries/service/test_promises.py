"""Promises that published numbers refute are faults, and no honest entry has one, whoever plays which role."""

import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aegis_provider import (
    ControlError,
    LaplaceNoise,
    MinimumCell,
    TableError,
    assess,
    document_of,
    load_plan,
    prepare_entry,
)
from app.platform.errors import InvalidDocumentError
from tests.for_each import for_each
from tests.service import example_entry, publication

COLUMNS = ("a", "b", "y")
CONTROLS = {"default": [], "exact": None, "min_cell": [MinimumCell(2)], "noise": [LaplaceNoise(2.0)]}
ATTRIBUTE = "{{maskings: {{{0}-two: {{mapping: {{u: p, v: p, w: q}}}}, {0}-one: {{suppress: {{}}}}}}}}"
ATTRIBUTES = f"a: {ATTRIBUTE.format('a')}\n  b: {ATTRIBUTE.format('b')}"
CHOICES = [(a, b) for a in ("identity", "a-two", "a-one", "drop") for b in ("identity", "b-two", "b-one", "drop")]

rows = st.lists(st.tuples(*[st.sampled_from("uvw")] * 3), min_size=2, max_size=12)
roles = st.tuples(*[st.sampled_from(["sensitive", "quasi_identifiers", "neither"])] * 3).filter(
    lambda chosen: set(chosen) != {"neither"}
)


def faults(document):
    """The places of what is refused in an upload, with the detail of the first."""
    with pytest.raises(InvalidDocumentError) as refused:
        publication(document)
    return [fault.pointer for fault in refused.value.faults]


def vouching(first=None, second=None, **changes):
    entry = example_entry(**changes)
    for configuration, privacy in zip(entry["configurations"], (first, second), strict=True):
        configuration.pop("privacy", None)
        if privacy:
            configuration["privacy"] = privacy
    return entry


PROMISES = [
    ({"k": 100}, False),
    ({"k": 101}, True),
    ({"l": 5}, False),  # the label has five values
    ({"l": 6}, True),
    ({"entropy_l": 5.000000001}, False),  # computed from logarithms
    ({"entropy_l": 5.1}, True),
    ({"alpha": 0.2}, False),
    ({"alpha": 0.19}, True),
    ({"alpha": 0}, True),
    ({"k": 21, "t": 0, "beta": 0, "delta_disclosure": 0, "epsilon": 0}, False),  # age may identify nobody
]


def test_more_than_a_release_can_have_is_refused():
    for privacy, broken in PROMISES:
        entry = vouching(privacy)
        if broken:
            [name] = privacy
            assert faults(entry) == [f"/configurations/0/privacy/{name}"], privacy
        else:
            publication(entry)


def test_records_that_are_left_out_are_in_no_class():
    entry = vouching({"k": 91})
    entry["configurations"][0]["suppressed"] = 9
    publication(entry)
    entry["configurations"][0]["suppressed"] = 10
    assert faults(entry) == ["/configurations/0/privacy/k"]
    entry["configurations"][0]["suppressed"] = 100  # no record is left that could break it
    publication(entry)


def test_no_more_records_are_left_out_than_there_are():
    entry = vouching()
    entry["configurations"][0]["suppressed"] = 101
    assert faults(entry) == ["/configurations/0/suppressed"]


def test_what_is_dropped_may_be_sensitive():
    """A provider measures a sensitive attribute even where it is not shared, so its values bound nothing."""
    publication(vouching(None, {"l": 8}))


def test_an_attribute_that_is_shared_unmasked_has_the_values_of_its_domain():
    entry = vouching({"l": 8})
    entry["configurations"][0]["maskings"] = {"age": "identity"}
    publication(entry)
    entry["configurations"][0]["privacy"] = {"l": 9}
    assert faults(entry) == ["/configurations/0/privacy/l"]


def test_in_a_table_of_configurations_the_place_is_that_of_the_number():
    entry = vouching()
    del entry["configurations"]
    entry["configuration_table"] = {
        "ids": ["c1", "c2"],
        "maskings": {"age": ["age-2", "drop"]},
        "privacy": {"k": [None, 101]},
    }
    assert faults(entry) == ["/configuration_table/privacy/k/1"]


def test_rounding_leaves_room_for_what_it_took_away():
    """A label of five values that are each up to 9 more than published: up to 45 more records."""
    entry = vouching({"k": 145}, records=100)
    entry["label"] |= {"histogram": [10, 30, 30, 20, 10], "rounded_to": 10}
    del entry["attributes"][0]["histogram"]
    masking = entry["attributes"][0]["maskings"][0]
    masking |= {"joint": [[0, 0, 0, 10, 10], [10, 30, 30, 10, 0]], "rounded_to": 10}
    publication(entry)
    entry["configurations"][0]["privacy"] = {"k": 146}
    assert faults(entry) == ["/configurations/0/privacy/k"]


def test_a_release_of_which_rounding_may_leave_nothing_keeps_every_promise():
    entry = vouching({"k": 200}, records=100)
    entry["label"] |= {"histogram": [10, 30, 30, 20, 10], "rounded_to": 10}
    entry["disclosure_control"] = {"rounded_to": 10}
    entry["configurations"][0]["suppressed"] = 50
    del entry["attributes"][0]["histogram"]
    masking = entry["attributes"][0]["maskings"][0]
    masking |= {"joint": [[0, 0, 0, 10, 10], [10, 30, 30, 10, 0]], "rounded_to": 10}
    publication(entry)
    entry["configurations"][0]["suppressed"] = 40  # of at least 55 records, so some are left
    assert faults(entry) == ["/configurations/0/privacy/k"]


def test_noise_leaves_the_number_of_records_open():
    entry = vouching({"k": 10**9})
    entry["label"]["noise"] = {"kind": "laplace", "scale": 2.0}
    publication(entry)


@for_each("control", CONTROLS)
@settings(max_examples=min(15, settings.default.max_examples // 6))  # of each control; one takes most of a second
@given(
    rows=rows,
    roles=roles,
    choices=st.sets(st.sampled_from(CHOICES), min_size=1, max_size=3),
    k=st.integers(1, 4),
)
def test_an_entry_that_keeps_its_promises_is_never_refused(control, rows, roles, choices, k):
    assume(len({row[-1] for row in rows}) > 1)
    content, text = "\n".join(map(",".join, [COLUMNS, *rows])) + "\n", described(roles, sorted(choices))
    with tempfile.TemporaryDirectory() as name:
        table, plan = Path(name, "t.csv"), Path(name, "plan.yaml")
        table.write_text(content, encoding="utf-8")
        plan.write_text(text + measured(content, text, k), encoding="utf-8")
        controls = CONTROLS[control]
        try:
            prepared = prepare_entry(table, load_plan(plan), controls or (), name="t", exact=controls is None)
        except (ControlError, TableError):  # nothing is left to publish
            assume(False)
    publication(document_of(prepared.entry))


def described(roles, choices):
    """A plan without promises: who plays which role, and the maskings of each configuration."""
    parts = [f"label: y\nattributes:\n  {ATTRIBUTES}"]
    for role in ("quasi_identifiers", "sensitive"):
        names = [name for name, own in zip(COLUMNS, roles, strict=True) if own == role]
        parts.append(f"{role}: [{', '.join(names)}]")
    parts.append("configurations:")
    parts += [f"  c{place}: {{a: {a}, b: {b}}}" for place, (a, b) in enumerate(choices)]
    return "\n".join(parts) + "\n"


@cache  # every control is tried with the same examples
def measured(content, text, k):
    """The promises of a plan: what its releases reach once the records that break `k` are left out."""
    ids = [line.strip().partition(":")[0] for line in text.partition("configurations:\n")[2].splitlines()]
    wanted = "privacy: {" + ", ".join(f"{each}: {{k: {k}}}" for each in ids) + "}\n"
    enough = "suppressed: {" + ", ".join(f"{each}: 99" for each in ids) + "}\n"
    with tempfile.TemporaryDirectory() as name:
        table, plan = Path(name, "t.csv"), Path(name, "plan.yaml")
        table.write_text(content, encoding="utf-8")
        plan.write_text(text + wanted + enough, encoding="utf-8")
        releases = assess(table, load_plan(plan)).releases
    reached = ", ".join(f"{each.id}: {{{numbers(each.privacy)}}}" for each in releases)
    left_out = ", ".join(f"{each.id}: {each.suppressed}" for each in releases)
    return f"privacy: {{{reached}}}\nsuppressed: {{{left_out}}}\n"


def numbers(privacy):
    return ", ".join(f"{name}: {float(number)!r}" for name, number in privacy.items())
