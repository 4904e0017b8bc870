"""A release of a table with three labels: each is protected from who knows the others, and kept, checked and named."""

import json
import random
from collections import Counter
from dataclasses import replace

import pytest

from aegis_provider.plan.reading import load_plan
from aegis_provider.receiving.verification import StatedRoles
from aegis_provider.workflow import release
from aegis_provider.workflow.public_card import public
from aegis_sdk.wire import read_entry
from tests.provider.workflow.releases import HOURS, rows_of

LABELS = ("ill", "smoker", "tired")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng, folder = random.Random(3), tmp_path_factory.mktemp("labels")
    lines = ["age,town,ill,smoker,tired"]
    for _ in range(900):
        age, town = rng.randint(18, 77), rng.choice("ABCD")
        ill, smoker, tired = (rng.random() < share for share in (age / 100, 0.3 + 0.4 * (town < "C"), age / 200 + 0.2))
        lines.append(f"{age},{town},{','.join('ny'[each] for each in (ill, smoker, tired))}")
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def released(folder):
    how = {"other_labels": LABELS[1:], "require": {"k": 4, "l": 2}, "suppress_at_most": 0.05, "seconds": HOURS}
    return release(folder / "people.csv", "ill", output=folder / "release", **how)


def test_the_masked_table_has_all_labels_and_protects_each_from_who_knows_the_others(folder, released):
    rows = rows_of(folder / "release" / "masked.csv")
    columns = [*rows[0]]
    measured = json.loads((folder / "release" / "provider-only.json").read_text())["by_label"]
    assert set(LABELS) <= set(columns)
    for label in LABELS:
        known = [name for name in columns if name != label]
        values = {(tuple(row[name] for name in known), row[label]) for row in rows}
        sizes = Counter(tuple(row[name] for name in known) for row in rows)
        k, least = min(sizes.values()), min(Counter(key for key, _ in values).values())
        told, exact = released.card.by_label[label].privacy, measured[label]["privacy"]
        assert exact == {"k": k, "l": least}
        assert told.keys() == exact.keys()
        assert all(told[name] <= exact[name] for name in told)  # in the steps of an entry
        assert k >= 4
        assert least >= 2
    assert released.card.reached["k"] == min(each.privacy["k"] for each in released.card.by_label.values())


@pytest.mark.usefixtures("released")
def test_entry_and_plan_give_k_and_l_of_each_label_no_worse_than_promised(folder):
    entry = json.loads((folder / "release" / "entry.json").read_text())
    assert (entry["format"], entry["labels"]) == (4, [*LABELS])
    plan = load_plan(folder / "release" / "configurations.yaml")
    assert {each.id: dict(each.by_label) for each in plan.configurations}.keys() == {
        each["id"] for each in entry["configurations"]
    }
    for each in entry["configurations"]:
        own = plan.configuration(each["id"])
        for label in LABELS:
            published, exact = each["privacy_by_label"][label], own.by_label[label]
            assert each["privacy"]["k"] <= published["k"] <= exact["k"]
            assert each["privacy"]["l"] <= published["l"] == exact["l"]


def test_the_card_says_what_is_kept_of_each_label_and_how_a_model_predicts_it(folder, released):
    card = released.card
    assert list(card.by_label) == [*LABELS]
    exact = json.loads((folder / "release" / "provider-only.json").read_text())
    kept = [each["kept"] for each in exact["by_label"].values()]
    assert exact["kept"] == pytest.approx(sum(kept) / 3)
    for label, task in card.by_label.items():
        assert task.kept == round(exact["by_label"][label]["kept"], 2)
        assert 0 < task.auc == round(task.auc, 3) <= 1
        assert (task.model != "", task.why) == (True, "")
    expected = {label: (each.masked.auc, each.whole.auc) for label, each in card.expected.items()}
    assert list(expected) == [*LABELS]
    for label, (masked, whole) in expected.items():
        assert (masked, whole) == (round(masked, 2), round(whole, 2))
        assert masked == pytest.approx(card.by_label[label].auc, abs=0.06)
    said = (folder / "release" / "card.md").read_text()
    assert f"a model of smoker should reach AUC {expected['smoker'][0]:.2f} (" in said
    assert "for predicting ill, smoker, tired" in said
    assert f"| smoker | {card.by_label['smoker'].kept:.0%}".replace("%", " %") in said


@pytest.mark.usefixtures("released")
def test_a_verifier_takes_the_attacks_of_the_plan_from_the_card(folder):
    card = json.loads((folder / "release" / "card.json").read_text())
    shared = [each["name"] for each in card["columns"] if each["shared"] and each["name"] != "ill"]
    roles, known = StatedRoles.of(card, shared, "ill"), [name for name in shared if name not in LABELS]
    for one in roles.attacks:
        assert (one.sensitive, {*one.quasi_identifiers}) == ((one.label,), {*known, *LABELS} - {one.label})
    assert sorted(one.label for one in roles.attacks) == [*LABELS]
    assert roles.quasi_identifiers == tuple(known)


def test_a_card_tells_what_protects_each_label_no_finer_than_an_entry(folder, released):
    _, entry = read_entry((folder / "release" / "entry.json").read_text())
    fine = {"t": 0.1234567}
    each = {label: replace(task, privacy=fine) for label, task in released.card.by_label.items()}
    card = public(replace(released.card, reached=fine, by_label=each), entry, tuple(LABELS))
    assert card.reached != fine
    assert {label: task.privacy for label, task in card.by_label.items()} == dict.fromkeys(LABELS, card.reached)


@pytest.mark.long
def test_a_card_counts_the_label_as_it_is_shown(folder):
    plan = """label: tired
attributes:
  age: {type: integer, maskings: {twenties: {bucketize: {width: 20}}}, default: twenties}
  tired: {maskings: {other: {mapping: {n: rested, y: tired}}}, default: other}
"""
    (folder / "masked-label.yaml").write_text(plan)
    how = {"plan": folder / "masked-label.yaml", "require": {"k": 4}, "seconds": HOURS, "accept_composition": True}
    card = release(folder / "people.csv", "tired", output=folder / "masked-label", **how).card
    shown = Counter(row["tired"] for row in rows_of(folder / "masked-label" / "masked.csv"))
    assert set(card.labels) == set(shown) == {"rested", "tired"}
    for text, each in card.labels.items():
        assert abs(each.records - shown[text]) < 5
        assert each.share == pytest.approx(each.share_released, abs=0.02)
    of = card.expected["tired"]
    words = f"a model of tired as other shows it should reach AUC {of.masked.auc:.2f} ("
    assert of.masking == "other"
    card_md = (folder / "masked-label" / "card.md").read_text()
    assert all(words in each for each in (*card.expectations, card_md))


def test_nothing_that_leaves_has_a_raw_number_of_the_label(tmp_path):
    rng = random.Random(5)
    numbers = [f"{rng.uniform(1000, 2000) + 10 * (n % 40):.4f}" for n in range(600)]
    lines = [f"{n % 40},{'ab'[n % 2]},{number}" for n, number in enumerate(numbers)]
    (tmp_path / "t.csv").write_text("\n".join(["age,town,cost", *lines]) + "\n")
    made = release(tmp_path / "t.csv", "cost", output=tmp_path / "release", accept_unique=True, seconds=HOURS)
    leaving = [
        tmp_path / "release" / name for name in ("card.html", "card.json", "card.md", "entry.json", "masked.csv")
    ]
    assert not [each.name for each in leaving if any(number in each.read_text() for number in numbers)]
    assert {*made.card.labels} == {*read_entry(leaving[3].read_text())[1].label.domain}
