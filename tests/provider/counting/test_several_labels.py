"""Entries with several labels, compared with the entry of each label alone."""

import numpy as np
import pytest

from aegis_provider import PlanError, TableError, load_plan
from aegis_provider.prepare import prepare_entry
from tests.provider.documents import summarize
from tests.provider.several_labels import plan, table


def tables_with(entry, label):
    """Return the counts of each masking with a label of an entry, by attribute and masking; coarser ones are folded."""
    attributes = {attribute["name"]: attribute for attribute in entry["attributes"]}
    if label == entry["label"]["name"]:
        joints = {(name, "identity"): one["joint"] for name, one in attributes.items() if "joint" in one}
        return joints | {
            (name, each["id"]): each["joint"] for name, one in attributes.items() for each in one["maskings"]
        }
    joints = {(entry["label"]["name"], "identity"): np.transpose(attributes[label]["joint"]).tolist()}
    for pair in (each for each in entry["pairs"] if "joint" in each):
        for side in (0, 1):
            if (pair["attributes"][1 - side], pair["maskings"][1 - side]) == (label, "identity"):
                joint = np.array(pair["joint"]) if side == 0 else np.transpose(pair["joint"])
                joints[pair["attributes"][side], pair["maskings"][side]] = joint.tolist()
    return joints


def folded(joint, finer, coarser):
    sums = np.zeros((max(coarser) + 1, len(joint[0])), dtype=int)
    np.add.at(sums, [dict(zip(finer, coarser, strict=True))[place] for place in range(len(joint))], joint)
    return sums.tolist()


def test_each_label_is_counted_as_if_it_were_the_only_one(write):
    path = table(write, 1)
    entry = summarize(path, plan(write, ["y", "s", "r"]), name="all", pairs=True)
    assert (entry["format"], entry["labels"]) == (4, ["y", "s", "r"])
    for label in ("y", "s", "r"):
        alone = summarize(path, plan(write, [label]), name="one", pairs=True)
        assert alone["format"] == 1
        mappings = {
            (one["name"], each["id"]): each["mapping"] for one in alone["attributes"] for each in one["maskings"]
        }
        mine = tables_with(entry, label)
        for (name, masking), joint in tables_with(alone, label).items():
            if len(joint) > 1 and (name, masking) not in mine:  # it follows from the values, or a finer masking
                assert (name, "identity") in mine
                joint_of_values = mine[name, "identity"]
                assert folded(joint_of_values, range(len(joint_of_values)), mappings[name, masking]) == joint
            elif len(joint) > 1:
                assert mine[name, masking] == joint
        trace = entry["joint_trace"] if label == "y" else entry["joint_traces"][label]
        assert trace == pytest.approx(alone["joint_trace"])
        told = associations(entry, label)
        assert told
        expected = associations(alone, label)
        assert {each: told[each] for each in expected} == {each: pytest.approx(one) for each, one in expected.items()}


def associations(entry, label):
    """Return the associations of pairs with a label; the default one takes its place in a pair."""
    default, told = entry["label"]["name"], {}
    for pair in entry["pairs"]:
        both = dict(zip(pair["attributes"], pair["maskings"], strict=True))
        if label in both:
            both = {name: masking for name, masking in both.items() if name != label} | {default: "identity"}
        association = pair["with_label"] if label == default else pair["with_labels"].get(label)
        if association is not None:
            told[frozenset(both.items())] = association
    return told


def test_without_pairs_those_with_a_label_are_counted(write):
    entry = summarize(table(write, 2), plan(write, ["y", "s", "r"]), name="all")
    names = {frozenset(pair["attributes"]) for pair in entry["pairs"]}
    assert names == {frozenset(pair) for pair in ("as", "ar", "bs", "br", "sr")}
    assert all(set(pair) == {"attributes", "maskings", "joint"} for pair in entry["pairs"])
    assert "joint_traces" not in entry


def test_a_list_of_one_label_is_an_entry_as_before(write):
    path, listed = table(write, 3), plan(write, ["y"])
    said = load_plan(write("said.yaml", (listed.files[0]).read_text().replace("labels: [y]", "label: y")))
    assert summarize(path, listed, name="one", pairs=True) == summarize(path, said, name="one", pairs=True)


@pytest.mark.parametrize("exact", [True, False])
def test_a_label_that_no_configuration_masks_has_the_entry_of_one_without_maskings(write, exact):
    path = write("t.csv", "a,y\n" + "".join(f"{n % 3},{n * n % 4}\n" for n in range(120)))
    text = "label: y\nattributes:\n  a: {}\n{}configurations: {c: {}}\n"
    masked = "  y: {maskings: {one: {mapping: {0: x, 1: x}}, two: {mapping: {0: x, 1: z}}}}\n"
    plans = [load_plan(write("plan.yaml", text.replace("{}conf", each + "conf"))) for each in ("", masked)]
    entries = [prepare_entry(path, each, name="t", exact=exact, pairs=True).entry for each in plans]
    if exact:  # it has all maskings of the plan with two classes or more
        assert [each.id for each in entries[1].label.maskings] == ["two"]
    else:
        assert entries[0] == entries[1]


def test_a_label_of_one_class_and_a_random_masking_are_refused(write):
    path = write("t.csv", "a,s,y\n1,n,k\n2,n,l\n1,n,k\n")
    text = "labels: [y, s]\nattributes: {a: {}}\nconfigurations: {c: {}}\n"
    with pytest.raises(TableError, match="the label 's' is 'n' in every record; name another in the plan"):
        summarize(path, load_plan(write("plan.yaml", text)), name="one")
    many = write("m.csv", "a,s,y\n" + "".join(f"{n % 3},s{n},{n % 2}\n" for n in range(201)))
    with pytest.raises(
        TableError, match="the label 's' has 201 different values, more than 200; put numbers into bins"
    ):
        summarize(many, load_plan(write("plan.yaml", text)), name="one")
    random = text.replace("a: {}", "a: {maskings: {m: {shuffle: {}}}}").replace("c: {}", "c: {a: m}") + "seed: 1\n"
    with pytest.raises(PlanError, match="it masks at random; list one label"):
        summarize(path, load_plan(write("plan.yaml", random)), name="one")
