"""The card that is delivered is one that may be published, whether a command or a program fulfils."""

import json
from dataclasses import replace
from uuid import uuid4

import pytest
from pydantic import TypeAdapter

from aegis_provider import apply, load_plan, summarize
from aegis_provider.errors import PlanError
from aegis_provider.handover import Task, fulfil, storage_at
from aegis_provider.handover.delivered_card import Masked, delivered_card
from aegis_provider.workflow import Card
from aegis_provider.workflow.card_head import renewed
from aegis_sdk import Client
from aegis_sdk.reading import Alone
from aegis_sdk.wire import DataRequest
from aegis_sdk.wire.data_requests import EXAMPLE_DATA_REQUEST
from tests.for_each import for_each
from tests.provider.workflow.test_card_report import CARD

PUBLIC = TypeAdapter(Card).dump_python(replace(CARD, plan_digest=None, labels={}), mode="json")
EXACT = TypeAdapter(Card).dump_python(CARD, mode="json")
OLDER = {"configuration": "c2", "labels": {"yes": [400, 395], "no": [600, 595]}}
SAID = "the release card has exact numbers, for you only; deliver the card.json of a release by this version"
REQUEST_ID = str(uuid4())
NOWHERE = "http://127.0.0.1:9"
LINK = "https://shared.example"


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text("label: ill\nattributes: {age: {}}\nconfigurations: {c2: {}}\n")
    return path


@for_each("card", [EXACT, OLDER])
def test_a_card_with_exact_numbers_is_refused_before_anything_is_asked_or_done(plan, tmp_path, card):
    storage = storage_at(str(tmp_path / "store"), LINK)
    with Client(NOWHERE) as service:
        task = Task(service, REQUEST_ID, "t.csv", load_plan(plan), card=card)
        with pytest.raises(PlanError, match=f"^{SAID}$"):
            fulfil(task, storage, tmp_path / "work")
    assert not (tmp_path / "work").exists()


def test_a_delivered_card_is_renewed_for_who_gets_the_table_and_an_older_one_is_left_as_it_is():
    typed = {"consumer": "acme", "purpose": "[x](http://x) <b>", "records": 985}
    card = renewed(PUBLIC, **typed)
    of = "of 985 records of people.csv, masked, for predicting ill"
    counted = "Records were counted, not people."
    assert card["for_consumers"].splitlines()[0].endswith(rf"{of}; for acme, for: \[x\](http://x) \<b\>. {counted}")
    assert card == {**PUBLIC, **typed, "for_consumers": card["for_consumers"]}
    assert renewed({"configuration": "c2"}, "acme", "", 985) == {"configuration": "c2"}


def test_a_delivery_without_a_card_says_how_many_labels_are_certain_or_can_be_guessed(tmp_path):
    """Of three groups, one has a single label, one is over 95 % alike, and one tells nothing."""
    labels = {"a": ["yes"] * 100, "b": ["yes"] * 97 + ["no"] * 3, "c": ["yes", "no"] * 100}
    rows = [f"{group},{label}" for group, every in labels.items() for label in every]
    (tmp_path / "t.csv").write_text("\n".join(["group,ill", *rows]) + "\n")
    stated = "label: ill\nattributes: {group: {}}\nconfigurations: {c2: {}}\nprivacy: {c2: {k: 5}}\n"
    (tmp_path / "plan.yaml").write_text(stated)
    plan = load_plan(tmp_path / "plan.yaml")
    checked = apply(tmp_path / "t.csv", plan, "c2", tmp_path / "masked.csv").checked
    assert (checked.certain, checked.guessable) == (100, 200)
    entry = summarize(tmp_path / "t.csv", plan, name="t")
    request = DataRequest.model_validate(EXAMPLE_DATA_REQUEST | {"configuration": "c2"})
    masked = Masked("masked.csv", 400, 0, checked.reached, (), checked)
    card = delivered_card(None, plan, request, entry, masked, Alone("ill", {"c2": 0.0}, None, "c2", 1, 1))
    assert [column["name"] for column in card["columns"]] == ["group", "ill"]
    risk = next(line for line in card["for_consumers"].splitlines() if "People at risk" in line)
    assert "The ill of 25 % of the records is certain" in risk
    assert "For about 50 % of the records a guess of ill is over 95 % right" in risk
    assert "Every record is one of at least 100 alike" in risk


def test_the_command_says_so_in_one_line(aegis, plan, tmp_path, monkeypatch):
    monkeypatch.setenv("AEGIS_URL", NOWHERE)
    (tmp_path / "provider-only.json").write_text(json.dumps(EXACT))
    places = ("--to", tmp_path / "store", "--link", LINK, "--work", tmp_path / "work")
    options = ("--plan", plan, *places, "--card", tmp_path / "provider-only.json")
    code, out, err = aegis("requests", "fulfil", REQUEST_ID, "t.csv", *options)
    assert (code, out, err.count("\n"), SAID in err) == (2, "", 1, True)
    assert not (tmp_path / "work").exists()
