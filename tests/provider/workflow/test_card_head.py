"""The made-up rows of a card: they follow from the published counts of each column alone."""

from collections import Counter
from copy import deepcopy
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.workflow.card_head import made_up_rows
from aegis_provider.workflow.card_making import values_of
from aegis_sdk.wire import EXAMPLE_ENTRY, EntryDocument

AGE, LABEL = EXAMPLE_ENTRY["attributes"][0]["name"], EXAMPLE_ENTRY["label"]["name"]
[MASKING, *_] = EXAMPLE_ENTRY["attributes"][0]["maskings"]


def entry_of(joint, identifier="c1", masking=MASKING["id"], other=()):
    """An entry with these counts of the masked values, by label, and perhaps another attribute."""
    document = deepcopy(EXAMPLE_ENTRY)
    own = {**MASKING, "domain": [f"v{n}" for n in range(len(joint))], "joint": joint}
    attribute = {
        "name": AGE,
        "type": "string",
        "domain": own["domain"],
        "maskings": [own | {"mapping": list(range(len(joint)))}],
    }
    attributes = [attribute, *({**attribute, "name": name} for name in other)]
    maskings = {each["name"]: masking for each in attributes}
    records = sum(map(sum, joint))
    label = {"name": LABEL, "domain": ["no", "yes"], "histogram": [sum(row[n] for row in joint) for n in (0, 1)]}
    kept = {name: document[name] for name in ("format", "name")}
    return EntryDocument.model_validate(
        {**kept, "records": records, "label": label, "attributes": attributes,
         "configurations": [{"id": identifier, "maskings": maskings}]}
    )  # fmt: skip


COUNTS = st.lists(st.tuples(*[st.integers(0, 50)] * 2).map(list), min_size=1, max_size=6).filter(
    lambda joint: sum(map(sum, joint)) > 0
)


@given(COUNTS)
def test_rows_have_only_values_that_are_counted_and_equal_entries_have_equal_rows(joint):
    rows = made_up_rows(entry_of(joint), "c1")
    assert rows == made_up_rows(entry_of(deepcopy(joint)), "c1")
    assert set(rows[AGE]) <= {f"v{n}" for n, row in enumerate(joint) if sum(row)}
    assert (rows.keys(), {len(values) for values in rows.values()}) == ({AGE, LABEL}, {5})


@given(COUNTS)
def test_a_column_is_drawn_without_a_look_at_others_and_at_what_its_values_say_about_the_label(joint):
    rows = made_up_rows(entry_of(joint), "c1")
    assert made_up_rows(entry_of(joint, other=["other"]), "c1")[AGE] == rows[AGE]
    assert made_up_rows(entry_of([row[::-1] for row in joint]), "c1")[AGE] == rows[AGE]


def test_columns_that_are_not_shared_have_no_rows():
    assert made_up_rows(entry_of([[5, 5]], masking="drop"), "c1").keys() == {LABEL}


@pytest.mark.parametrize(
    ("kind", "bin", "possible"),
    [
        ("integer", "[6,9)", {"6", "7", "8"}),
        ("integer", "(-inf,2)", {"1"}),
        ("integer", "[71,inf)", {"71"}),
        ("number", "[0.5,0.7)", {"0.5", "0.6"}),
        ("number", "(-inf,0.5)", {"0.4"}),
        ("string", "a or others", {"a or others"}),
    ],
)
def test_where_only_the_entry_has_bins_the_rows_have_numbers_inside_them_as_the_table_does(kind, bin, possible):  # noqa: A002
    drawn = {"merged": set(), "edges": set()}
    for n in range(20):
        for rule, values in drawn.items():
            entry = entry_of([[5, 5]], f"c{n}", masking="identity")
            changed = {"type": kind, "domain": [bin], "maskings": [], "discretization": SimpleNamespace(rule=rule)}
            attributes = [entry.attributes[0].model_copy(update=changed)]
            values |= set(made_up_rows(entry.model_copy(update={"attributes": attributes}), f"c{n}")[AGE])
    assert drawn == {"merged": possible, "edges": {bin}}


def test_all_masked_values_are_listed_and_those_of_a_shortened_name():
    attribute = entry_of([[5, 5], [5, 5], [5, 5]]).attributes[0]
    masking = attribute.maskings[0].model_copy(update={"domain": ["", "v0 and 1 more", "x"], "mapping": [1, 1, 2]})
    assert values_of(attribute, masking) == {"v0 and 1 more": ("v0", "v1"), "x": ()}


def test_values_are_as_frequent_as_published():
    joint, drawn = [[10, 0], [20, 10], [0, 60]], Counter()
    for n in range(400):
        drawn.update(made_up_rows(entry_of(joint, f"c{n}"), f"c{n}")[AGE])
    assert [drawn[f"v{n}"] / 2000 for n in range(3)] == pytest.approx([0.1, 0.3, 0.6], abs=0.04)  # 3.6 deviations
