"""Answers about one of several labels, in words: which label, and what does not compete."""

import pytest

from aegis_sdk.charts.costs import costs_chart
from aegis_sdk.charts.kept import frontier_chart
from aegis_sdk.cli.advise import report
from aegis_sdk.reading import ConfigurationNames, has_pairs, maskings_about, outline_of
from aegis_sdk.wire import EXAMPLE_ADVICE, Advice, EntryDocument
from tests.labels import CONFIGURATIONS, LABELS, entry_of, some_records

ENTRY = entry_of(some_records(1), LABELS)
SCHEMA = ENTRY | {
    "configurations": [
        each | {"privacy": {"k": 5, "l": 1 + (place > 0)}, "privacy_by_label": {"charges": {"k": 5, "l": 1}}}
        for place, each in enumerate(ENTRY["configurations"])
    ]
}


def about(label, configuration="c0", **changes):
    """The answer to a question about a label, which scores the attributes of its task."""
    names = [name for name in ("health", "smoker", "charges", "age", "zip") if name != (label or "health")]
    attributes = [
        {
            **EXAMPLE_ADVICE["attributes"][0],
            "name": name,
            "maskings": {"identity": {"utility": 0.1, "deviation": 0.0, "source": "counts"}},
        }
        for name in names
    ]
    ranking = [{"configuration": configuration, "deviation": 0.1, "utility": 0.2}]
    fields = {"configuration": configuration, "ranking": ranking, "attributes": attributes}
    if label is not None:
        left_out = {"smoker": 1, "charges": 2, "age": 5}[label]
        fields["label"] = {"name": label, "listed": label in LABELS, "left_out": left_out}
        fields["request"] = EXAMPLE_ADVICE["request"] | {"label": label}
    return Advice.model_validate(EXAMPLE_ADVICE | fields | changes)


@pytest.mark.parametrize(
    ("label", "schema", "said"),
    [
        (None, SCHEMA, ["about health, one of 3 labels of this entry: health, smoker, charges"]),
        (
            "charges",
            SCHEMA,
            [
                "about charges, one of 3 labels of this entry: health, smoker, charges",
                "2 configurations do not show charges so that it can be compared, and are not ranked",
            ],
        ),
        (
            "age",
            SCHEMA,
            [
                (
                    "about age, which is not a label of this entry (health, smoker, charges): estimated from its "
                    "published counts of pairs"
                ),
                "5 configurations do not show age so that it can be compared, and are not ranked",
            ],
        ),
        (None, SCHEMA | {"labels": None}, []),
    ],
)
def test_an_answer_says_which_label_it_is_about_and_what_does_not_compete(label, schema, said):
    lines = list(report(about(label), schema))
    assert [line for line in lines if line.startswith("about ") or "be compared" in line] == said
    assert lines[0].endswith(f"about {label or 'health'}")


def test_the_default_label_is_an_attribute_of_another_label_s_task():
    maskings = maskings_about(about("smoker"), SCHEMA, "c1")
    assert maskings == {"health": "identity"} | {
        name: CONFIGURATIONS[1].get(name, "identity") for name in ("charges", "age", "zip")
    }
    assert maskings_about(about(None), SCHEMA, "c1") == SCHEMA["configurations"][1]["maskings"]
    assert maskings_about(about("smoker"), SCHEMA, "nothing") == {}
    costs = list(report(about("smoker"), SCHEMA))
    assert any(line.split()[:2] == ["health", "identity"] for line in costs)
    marked = [group.name for group in costs_chart(about("smoker"), SCHEMA).groups if group.bars[0].mark]
    assert marked == ["health", "charges", "zip"]


def test_charts_and_limits_are_those_of_the_label_asked_about():
    joint = {"reference_utility": 0.3, "dimensions": 3, "reference_source": "published"}
    advice = about("charges", joint=joint)
    assert "tells about charges" in frontier_chart(advice, SCHEMA).y.title
    assert any("at most 3 in all" in line for line in report(advice, SCHEMA))  # four values of charges
    of_scores = advice.model_copy(update={"request": advice.request | {"measure": "joint_scores"}})
    assert any("at most 1 in all" in line for line in report(of_scores, SCHEMA))


def test_what_a_model_of_the_default_label_reached_is_not_said_of_another():
    measured = SCHEMA["configurations"][0] | {"measured": {"auc": 0.7, "raw_auc": 0.8}}
    schema = SCHEMA | {"configurations": [measured, *SCHEMA["configurations"][1:]]}
    texts = {label: "\n".join(report(about(label), schema)) for label in (None, "smoker")}
    assert {label: text.count("AUC 0.700") for label, text in texts.items()} == {None: 2, "smoker": 0}


def test_a_certain_label_is_named_by_what_is_stated_of_each():
    *_, warning = report(about("smoker"), SCHEMA)
    assert warning.endswith("all records may have the same charges (l = 1 in c0)")
    unstated = [each | {"privacy_by_label": {}} for each in SCHEMA["configurations"]]
    *_, warning = report(about("smoker"), SCHEMA | {"configurations": unstated})
    assert "the same health or smoker or charges" in warning


def test_pairs_of_a_label_suffice_for_joint_measures_if_no_two_other_attributes_are_shared():
    of_labels = [pair for pair in ENTRY["pairs"] if {"smoker", "charges"} & {*pair["attributes"]}]
    assert has_pairs(ENTRY)
    assert not has_pairs(ENTRY | {"pairs": of_labels})
    assert has_pairs(ENTRY | {"pairs": of_labels, "labels": None})
    alone = [
        each | {"maskings": each["maskings"] | {("zip", "age")[place % 2]: "drop"}}
        for place, each in enumerate(ENTRY["configurations"])
    ]
    assert has_pairs(ENTRY | {"pairs": of_labels, "configurations": alone})
    assert not has_pairs(ENTRY | {"pairs": of_labels, "configurations": [ENTRY["configurations"][0], *alone[1:]]})
    assert not has_pairs(ENTRY | {"pairs": []})


def test_names_of_configurations_are_the_same_for_every_label():
    assert ConfigurationNames.of(SCHEMA).name("c2") in "\n".join(report(about("smoker", "c2"), SCHEMA))


def test_the_outline_lists_the_labels():
    entry = EntryDocument.model_validate(ENTRY)
    assert outline_of(entry, entry.attributes).labels == LABELS
