"""The plan that goes with a controlled entry: when applied, it releases the records that the entry counts."""

import csv
import random
from collections import Counter
from dataclasses import replace

import pytest

from aegis_provider import MinimumCell, apply, document_of, load_plan, prepare_entry
from aegis_provider.control import (
    Changes,
    ControlError,
    Controlled,
    with_suppressed,
)
from aegis_provider.table.values import infer_type
from aegis_sdk.wire import EntryDocument
from tests.for_each import for_each
from tests.provider.control.counted_entries import controls_of, entry_of
from tests.provider.documents import summarize

PLAN = """# A study.
label: y
quasi_identifiers: [age, zip, score, day]
attributes:
  age: {hierarchy: {intervals: [2, 10]}, maskings: {any: {suppress: {}}}, default: any}
  zip:
    maskings:
      three: {blur: {keep: 3}}
      own: {mapping: {"01034": yes, "": "?"}, other: no}
      token: {token: {salt_variable: CONTROLLED_SALT}}
    default: token
  score:
    discretize: {rule: equal_width, width: 0.5}
    maskings: {pairs: {bucketize: {edges: [0, 2, 4, 6, 8, 10, 12]}}}
  day: {type: date, maskings: {month: {hierarchy: {dates: [month, year], level: 1}}}}
configurations:
  c1: {age: age-1, zip: three, score: drop, day: month}
  c2: {age: age-2, zip: own, score: pairs, day: drop}
  c3: {age: any, zip: token, score: drop, day: drop}
  c4: {age: identity, zip: drop, score: drop, day: drop}
"""


@pytest.fixture
def table(write, monkeypatch):
    """A few hundred records, in which higher values are rarer and some are missing."""
    monkeypatch.setenv("CONTROLLED_SALT", "sixteen bytes of salt")
    chance = random.Random(7)
    lines = ["age,zip,score,day,y"]
    for _ in range(600):
        age = chance.choice(["", *(int(40 * chance.random() ** 2) for _ in range(12))])
        zipcode = f"0{1 + int(4 * chance.random() ** 2)}{int(9 * chance.random() ** 3)}3{chance.choice('45')}"
        score = round(12 * chance.random() ** 14, 3)
        day = f"2026-{1 + int(12 * chance.random() ** 5):02}-{1 + int(27 * chance.random()):02}"
        lines.append(f"{age},{zipcode},{score},{day},{'yes' if chance.random() < 0.3 else 'no'}")
    return write("t.csv", "\n".join(["age,zip,score,day,y", *lines[1:]]) + "\n")


def controlled(table, path, least=5, round_to=None):
    """Return the plan, its controlled entry, and the controlled plan as read from its file."""
    plan = load_plan(path)
    prepared = prepare_entry(table, plan, controls_of(min_cell=least, round_to=round_to), name="e")
    prepared.write(path.with_name("entry.json"), path.with_name("controlled.yaml"))
    held = replace(prepared.controlled, entry=document_of(prepared.entry))
    return plan, held, load_plan(path.with_name("controlled.yaml"))


def released(table, plan, configuration, tmp_path):
    output = tmp_path / "masked.csv"
    apply(table, plan, configuration, output)
    with output.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def joint_of(records, name, masking, labels):
    counts = Counter((record[name], record["y"]) for record in records)
    return [[counts[text, label] for label in labels] for text in masking["domain"]]


@pytest.mark.long
def test_what_is_applied_is_what_the_entry_counts(table, write, tmp_path):
    _, held, again = controlled(table, write("plan.yaml", PLAN))
    compared = []
    for configuration in again.configurations:
        records = released(table, again, configuration.id, tmp_path)
        for attribute in held.entry["attributes"]:
            for masking in attribute["maskings"]:
                if configuration.maskings[attribute["name"]] == masking["id"] and "rounded_to" not in masking:
                    labels = held.entry["label"]["domain"]
                    assert masking["joint"] == joint_of(records, attribute["name"], masking, labels)
                    compared.append((attribute["name"], masking["id"]))
    merged = {(each.attribute, each.masking) for each in held.changes.merged}
    assert merged >= {("age", "age-1"), ("zip", "three"), ("score", "pairs"), ("day", "month")}
    assert merged.intersection(compared) == merged
    assert held.changes.rounded == ("zip, token",)


def test_the_entry_of_the_controlled_plan_needs_no_control(table, write):
    _, held, again = controlled(table, write("plan.yaml", PLAN))
    for old, new in zip(held.entry["attributes"], summarize(table, again, name="e")["attributes"], strict=True):
        for ours, theirs in zip(old["maskings"], new["maskings"], strict=True):
            told = ("id", "domain") if "rounded_to" in ours else ("id", "domain", "joint")
            assert [ours[name] for name in told] == [theirs[name] for name in told]


@pytest.mark.long
def test_the_plan_file_says_what_it_said_but_for_what_was_merged(table, write):
    plan, _, again = controlled(table, write("plan.yaml", PLAN))
    assert (again.label, again.quasi_identifiers, again.sensitive) == ("y", plan.quasi_identifiers, ("y",))
    maskings = {each.name: {one.id: one.function.name for one in each.maskings} for each in again.attributes}
    assert maskings["age"] == {"age-1": "mapping", "age-2": "hierarchy", "any": "suppress"}
    assert maskings["zip"] == {"three": "mapping", "own": "mapping", "token": "token"}
    assert [each.default for each in again.attributes] == ["any", "token", "identity", "identity"]
    prepared = prepare_entry(table, plan, [MinimumCell(5)], name="e")
    assert again.configurations == prepared.plan.configurations == plan.configurations
    text = plan.files[0].with_name("controlled.yaml").read_text(encoding="utf-8")
    assert "# With a minimum cell count of 5, by `aegis summarize`." in text


def test_a_hierarchy_of_which_one_level_is_changed_is_stated_level_by_level(table, write):
    text = "label: y\nattributes:\n  age: {hierarchy: {intervals: [2, 20, 80]}}\n"
    text += "configurations: {c: {age: age-1}, d: {age: age-2}, e: {age: age-3}}\n"
    _, held, again = controlled(table, write("plan.yaml", text))
    assert [each.masking for each in held.changes.merged] == ["age-1"]
    [age] = again.attributes
    assert [(each.id, each.function.name) for each in age.maskings] == [
        ("age-1", "mapping"),
        ("age-2", "hierarchy"),
        ("age-3", "hierarchy"),
    ]


def test_values_that_look_like_anything_else_stay_texts(write, tmp_path):
    values = ["no", "null", "1.0", "0x1", "~", "- a", "{b}", "a: b", "#c", "'", '"', " d ", "*e", "!f", "é\u0085", "?"]
    rows = [(value, label) for value in values for label in ("n", "m") for _ in range(6)]
    rows += [(f"rare {value}", "n") for value in values] + [("", "m")]
    table = tmp_path / "t.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("a", "y"), *rows])
    path = write(
        "plan.yaml", "label: y\nattributes: {a: {maskings: {cut: {blur: {keep: 99}}}}}\nconfigurations: {c: {a: cut}}\n"
    )
    assert str(infer_type(values)) == "string"
    _, held, again = controlled(table, path)
    masking = held.entry["attributes"][0]["maskings"][0]
    assert (
        joint_of(released(table, again, "c", tmp_path), "a", masking, held.entry["label"]["domain"]) == masking["joint"]
    )


SUPPRESSING = """label: y
quasi_identifiers: [a, b]
attributes:
  a: {maskings: {twos: {bucketize: {width: 2}}}}
  b: {}
configurations: {c: {a: twos}, whole: {a: twos}}
privacy: {c: {k: 4}, whole: {k: 1}}
suppressed: {c: 5}
"""


def test_records_left_out_are_counted_again_where_classes_have_grown(write, tmp_path):
    rows = [(1, "u", "n")] * 6 + [(1, "v", "n")] * 6 + [(2, "u", "n")] * 2 + [(4, "u", "n")] * 3 + [(1, "u", "m")] * 6
    table = write("t.csv", "a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in rows))
    plan, held, again = controlled(table, write("plan.yaml", SUPPRESSING))
    assert plan.configuration("c").suppressed == 5
    assert [group.text for each in held.changes.merged for group in each.groups] == ["2-3 to 4-5"]
    assert held.changes.recount == ("c",)
    assert [each.get("suppressed") for each in held.entry["configurations"]] == [0, None]
    assert len(released(table, again, "c", tmp_path)) == len(rows)


def test_records_left_out_stay_in_the_plan_where_the_entry_is_rounded(write, tmp_path):
    rows = [(1, "u", "n")] * 9 + [(2, "u", "n")] * 2 + [(4, "u", "n")] * 3 + [(1, "u", "m")] * 6 + [(9, "v", "n")] * 6
    table = write("t.csv", "a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in rows))
    text = SUPPRESSING.replace("{a: twos}, whole: {a: twos}}", "{a: twos}, whole: {a: drop}}")
    text = text.replace("whole: {k: 1}", "whole: {k: 7}").replace("{c: 5}", "{c: 5, whole: 6}")
    _, held, again = controlled(table, write("plan.yaml", text), round_to=6)
    assert held.changes.recount == ("c",)
    assert [each["suppressed"] for each in held.entry["configurations"]] == [0, 6]
    assert [each.suppressed for each in again.configurations] == [0, 6]
    assert len(released(table, again, "c", tmp_path)) == len(rows)
    assert len(released(table, again, "whole", tmp_path)) == len(rows) - 6


@for_each(
    ("controls", "told"),
    [
        ({"min_cell": 5}, [None, 5, 0, None]),
        ({"min_cell": 4}, [4, 5, 0, None]),
        ({"min_cell": 4, "round_to": 1000}, [(0, 1000), (0, 1000), (0,), (None,)]),
        ({}, [4, 5, 0, None]),
    ],
)
def test_a_number_of_records_left_out_is_published_only_as_the_controls_allow(controls, told):
    counted = [{"id": f"c{number}", "suppressed": number} for number in (4, 5, 0)]
    configurations = [each | {"maskings": {"a": "drop", "b": "drop"}} for each in (*counted, {"id": "all"})]
    entry = EntryDocument.model_validate(entry_of([("0", "xa", "n"), ("1", "xb", "y")] * 9, configurations))
    published = with_suppressed(Controlled(entry, tuple(controls_of(**controls)), Changes()), "no table is read", None)
    shown = [each.suppressed for each in published.entry.configurations]
    assert all(each in (one if isinstance(one, tuple) else (one,)) for each, one in zip(shown, told, strict=True))
    gone = [each["id"] for each, left in zip(counted, told, strict=False) if left is None]
    assert published.changes.tables == tuple(f"suppressed of {name}" for name in gone)


def test_a_plan_leaves_out_as_many_records_as_it_says_however_their_number_is_rounded(write, tmp_path):
    rows = [(1, "u", "n")] * 60 + [(1, "v", "n")] * 3 + [(1, "u", "m")] * 60
    table = write("t.csv", "a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in rows))
    text = SUPPRESSING.replace("whole: {a: twos}", "whole: {a: drop, b: drop}").replace("{c: 5}", "{c: 3}")
    _, held, again = controlled(table, write("plan.yaml", text.replace("c: {a: twos}", "c: {a: drop}")), 2, 4)
    assert not held.changes.recount
    assert held.entry["configurations"][0]["suppressed"] in {0, 4}
    assert again.configuration("c").suppressed == 3
    assert len(released(table, again, "c", tmp_path)) == len(rows) - 3


def test_records_left_out_cannot_be_counted_where_chance_decides(write):
    text = SUPPRESSING.replace("b: {}", "b: {maskings: {pram: {randomised_response: {keep: 0.9}}}}").replace(
        "c: {a: twos}", "c: {a: twos, b: pram}"
    )
    rows = (
        [(1, "u", "n")] * 60 + [(1, "v", "n")] * 60 + [(2, "u", "n")] * 2 + [(4, "u", "n")] * 3 + [(1, "u", "m")] * 60
    )
    table = write("t.csv", "a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in rows))
    with pytest.raises(ControlError, match="c suppresses records and masks b at random"):
        controlled(table, write("plan.yaml", text + "seed: 5\n"), least=4)
