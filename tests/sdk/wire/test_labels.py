"""Entries with several labels: what they say of each, and what they lack."""

import pytest
from pydantic import ValidationError

from aegis_sdk.wire.pairs import Pair
from tests.for_each import for_each
from tests.labels import LABELS, entry_of, some_records
from tests.sdk.wire.documents import assert_read_whole, changed, entry_pointers

RECORDS = some_records(0)
ENTRY = entry_of(RECORDS, LABELS)
ALONE = entry_of(RECORDS, LABELS[:1])
PAIRS = ENTRY["pairs"]
ASSOCIATION = {"chi_square": 3.0, "combinations": 4}


def place_of(**which):
    """The place of the pair with these masking ids by attribute."""
    return next(
        at for at, one in enumerate(PAIRS) if dict(zip(one["attributes"], one["maskings"], strict=True)) == which
    )


def changed_pair(change, **which):
    """The entry with the pair with these masking ids changed by a function; None: left out."""
    place = place_of(**which)
    pairs = [*PAIRS[:place], *([] if change is None else [change(PAIRS[place])]), *PAIRS[place + 1 :]]
    return ENTRY | {"pairs": pairs}


def without(name):
    return lambda member: {key: value for key, value in member.items() if key != name}


def dropped(name):
    configurations = [each | {"maskings": each["maskings"] | {name: "drop"}} for each in ENTRY["configurations"]]
    return ENTRY | {"configurations": configurations}


def promising(privacy, **by_label):
    return changed(
        ("configurations", 0), ENTRY["configurations"][0] | {"privacy": privacy, "privacy_by_label": by_label}, ENTRY
    )


SMOKER = next(place for place, one in enumerate(ENTRY["attributes"]) if one["name"] == "smoker")

BROKEN = {
    "no list": (ENTRY | {"labels": "health"}, ["/labels"]),
    "not a name": (ENTRY | {"labels": ["health", 3]}, ["/labels/1"]),
    "one label": (ENTRY | {"labels": ["health"]}, ["/labels"]),
    "the same label twice": (ENTRY | {"labels": [*LABELS, "smoker"]}, ["/labels/3"]),
    "the default label twice": (ENTRY | {"labels": [*LABELS, "health"]}, ["/labels/3"]),
    "another one first": (ENTRY | {"labels": ["smoker", "health"]}, ["/labels/0"]),
    "an unknown label": (ENTRY | {"labels": [*LABELS, "income"]}, ["/labels/3"]),
    "21 labels": (ENTRY | {"labels": [f"label {number}" for number in range(21)]}, ["/labels"]),
    "200 labels": (ENTRY | {"labels": [f"label {number}" for number in range(200)]}, ["/labels"]),
    "a label that all configurations drop": (dropped("smoker"), ["/labels/1"]),
    "no counts with the default label": (
        changed(("attributes", SMOKER), without("joint")(ENTRY["attributes"][SMOKER]), ENTRY),
        ["/labels/1"],
    ),
    "no counts with a label": (changed_pair(None, zip="identity", smoker="identity"), ["/pairs"] * 2),
    "no finer counts": (changed_pair(without("joint"), age="identity", charges="identity"), ["/pairs"] * 4),
    "the association of no label": (
        changed_pair(lambda one: one | {"with_labels": {"age": ASSOCIATION}}, zip="identity", smoker="identity"),
        [f"/pairs/{place_of(zip='identity', smoker='identity')}/with_labels/age"],
    ),
    "a trace of no label": (ENTRY | {"joint_traces": {"health": {"value": 0.2}}}, ["/joint_traces/health"]),
    "a trace that is not a multiple": (
        ENTRY | {"joint_traces": {"smoker": {"value": 0.25, "rounded_to": 0.1}}},
        ["/joint_traces/smoker/value"],
    ),
    "the privacy of no label": (
        promising({"k": 5}, zip={"l": 2}),
        ["/configurations/0/privacy_by_label/zip"],
    ),
    "the privacy of a label that is dropped": (
        changed(
            ("configurations", 0, "maskings", "smoker"), "drop", promising({"k": 5}, smoker={"l": 2}, health={"l": 3})
        ),
        ["/configurations/0/privacy_by_label/smoker"],
    ),
    "more than a label keeps": (
        promising({"k": 5, "l": 3, "t": 0.2}, smoker={"l": 2, "t": 0.3}, health={"l": 3, "t": 0.1}),
        ["/configurations/0/privacy_by_label/smoker/l", "/configurations/0/privacy_by_label/smoker/t"],
    ),
    "format 3": (ENTRY | {"format": 3}, ["/labels"]),
    "format 4 for one label": (ALONE | {"format": 4}, ["/format"]),
    "a trace of another label": (
        ALONE | {"joint_traces": {"smoker": {"value": 0.2}}},
        ["/joint_traces/smoker", "/joint_traces"],
    ),
    "the privacy by label": (
        changed(("configurations", 0, "privacy_by_label"), {"health": {"l": 2}}, ALONE),
        ["/configurations/0/privacy_by_label/health", "/configurations/0/privacy_by_label"],
    ),
    "format 5": (ENTRY | {"format": 5}, ["/format"]),
}


def test_what_does_not_fit_is_pointed_at():
    given = {name: entry_pointers(document) for name, (document, _) in BROKEN.items()}
    assert given == {name: expected for name, (_, expected) in BROKEN.items()}


SOUND = {
    "three labels": ENTRY,
    "one label": ALONE,
    "traces of all": ENTRY | {"joint_trace": {"value": 0.2}, "joint_traces": {"smoker": {"value": 0.1}}},
    "privacy by label": promising({"k": 5, "l": 2, "t": 0.3}, smoker={"l": 2, "t": 0.3}, health={"l": 3, "t": 0.1}),
    "without associations": ENTRY | {"pairs": [without("with_labels")(one) for one in PAIRS if "joint" in one]},
    "as columns": {name: value for name, value in ENTRY.items() if name != "configurations"}
    | {
        "configuration_table": {
            "ids": [each["id"] for each in ENTRY["configurations"]],
            "maskings": {
                name: [each["maskings"][name] for each in ENTRY["configurations"]]
                for name in ENTRY["configurations"][0]["maskings"]
            },
        }
    },
}


@for_each("name", SOUND)
def test_what_fits_is_accepted(name):
    assert_read_whole(SOUND[name])


def test_counts_rounded_once_are_declared_by_pairs_of_no_label_only():
    control = {"rounded_to": 5, "rounding": "once"}
    told = entry_pointers(ENTRY | {"disclosure_control": control})
    of_none = [place for place, one in enumerate(PAIRS) if "joint" in one and not _with_label(one)]
    assert of_none
    assert [one for one in told if one.count("/") == 2] == [f"/pairs/{place}" for place in of_none]


def _with_label(one):
    both = zip(one["attributes"], one["maskings"], strict=True)
    return any(name in LABELS[1:] and masking == "identity" for name, masking in both)


def test_counts_with_a_masked_label_may_be_sums_of_thousands_of_rounded_ones():
    with_error = {"attributes": ["a", "y"], "maskings": ["a2", "y2"], "rounded_to": 5, "joint": [[5, 10]]}
    assert Pair.model_validate(with_error | {"within": 4_000}).within == 4_000
    with pytest.raises(ValidationError, match="within"):
        Pair.model_validate(with_error | {"within": 10**16})
