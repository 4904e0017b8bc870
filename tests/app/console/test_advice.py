"""The advice workbench: the form, asking, progress, and the answer as its reader may see it."""

import re
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest

from aegis_advisor.measures import MEASURES, OFFERED
from aegis_sdk import wire
from app.advice.pages.question import MEASURE_WORDS, question_commands, question_link, question_members
from app.pages.forms import Form
from app.pages.viewers import Viewer
from app.platform.callers import Role
from tests.app.advice.test_views import two_attributes
from tests.app.console.callers import CONSUMER, OWNER
from tests.app.console.html import BROWSER, Html, look, send, send_form
from tests.service import Worker, example_entry, publish, running_app

ASKED = {"measure": "mutual_information"}
NASTY = "<script>alert(1)</script>\"'&\u202e\U0001f600"


async def answered(api, worker, entry_id, fields):
    """Ask by the form, have it computed, and return where the answer is."""
    answer = await send(api, f"/entries/{entry_id}/ask", fields)
    assert answer.status_code == 303, answer.text
    await worker.run()
    return answer.headers["Location"]


@pytest.fixture(name="market")
async def _market(database_url):
    async with running_app(database_url) as api, Worker.on(database_url) as worker:
        yield api, worker, (await publish(api, two_attributes()))["id"]


async def test_the_form_shows_what_can_be_asked(market):
    api, _, entry = market
    found = await look(api, f"/entries/{entry}/ask")
    fields = [one for one in found.all("input") if one["type"] in {"checkbox", "range"}]
    assert [one["name"] for one in fields] == ["unit", "frontier", "attributes", "step-age", "attributes", "step-sex"]
    assert all("checked" in one for one in fields if one["name"] == "attributes")
    assert f"aegis advise {entry} --measure mutual_information" in found.text


async def test_the_form_is_filled_in_by_the_address(market):
    api, _, entry = market
    found = await look(api, f"/entries/{entry}/ask?measure=g3&attributes=age&weight-age=2&require-k=5&unit=person")
    boxes = {one["value"]: "checked" in one for one in found.all("input") if one["type"] == "checkbox"}
    assert boxes == {"person": True, "suppressed": False, "age": True, "sex": False}
    values = {one["name"]: one["value"] for one in found.all("input")}
    assert (values["step-age"], values["step-sex"], values["require-k"]) == ("4", "3", "5")
    assert [one["value"] for one in found.all("option") if "selected" in one] == ["g3"]


async def test_an_answer_is_what_the_api_answers(market):
    api, worker, entry = market
    place = await answered(api, worker, entry, ASKED | {"attributes": ["age", "sex"], "step-age": "4", "step-sex": "3"})
    advice = (await api.get(f"/v1{place}")).json()
    assert advice["request"]["weights"] == {"age": 2.0}
    assert advice["request"]["attributes"] is None
    found = await look(api, place)
    assert f"{advice['configuration']} keeps" in found.text
    compared = [link.partition("second=")[2].partition("#")[0] for link in found.links if "&second=" in link]
    assert compared[-len(advice["ranking"]) :] == [row["configuration"] for row in advice["ranking"]]
    again = next(link for link in found.links if "/ask?" in link)
    assert "weight-age=2" in again


async def test_the_command_of_a_page_asks_the_same(market):
    api, worker, entry = market
    place = await answered(api, worker, entry, ASKED | {"require-k": "", "attributes": ["age", "sex"], "step-age": "5"})
    shown = (await look(api, place)).text
    line = re.search(r"curl -s -H 'Content-Type: application/json' --data-binary '([^']*)'", shown)
    answer = await api.post(f"/v1/entries/{entry}/advice", json=orjson.loads(line[1]))
    assert answer.json()["id"] == place.rpartition("/")[2]


async def test_a_kept_answer_is_refused_to_those_who_may_not_read_it_now(market, seen_by):
    api, worker, entry = market
    seen_by(CONSUMER)
    place = await answered(api, worker, entry, ASKED)
    assert await look(api, place)
    seen_by(replace(CONSUMER, tenant="third"))
    await look(api, place, 404)
    seen_by(OWNER)
    await look(api, place, 404)
    path = f"/entries/{entry}/visibility"
    assert (await send_form(api, await look(api, path), path, audience="private")).status_code == 303
    seen_by(CONSUMER)
    await look(api, place, 404)


async def test_a_kept_answer_is_another_for_owners_than_for_others_of_their_tenant(market, seen_by):
    api, worker, entry = market
    consumer = replace(OWNER, roles=frozenset({Role.CONSUMER}))
    seen_by(consumer)
    place = await answered(api, worker, entry, ASKED)
    for caller, is_full in ((consumer, False), (OWNER, True), (consumer, False), (OWNER, True)):
        seen_by(caller)
        assert ("What each masking keeps" not in (await look(api, place)).text) is is_full


async def test_columns_of_what_the_answer_does_not_say_are_left_out(market, seen_by):
    api, worker, entry = market
    seen_by(CONSUMER)
    place = await answered(api, worker, entry, ASKED | {"measure": "g3"})
    said = (await api.get(f"/v1{place}")).json()
    assert {row["utility_share"] for row in said["ranking"]} == {None}
    text = (await look(api, f"{place}?second=c3")).text
    assert f"{said['configuration']} is the best of {said['considered']}" in text
    assert "Ranked by g3" in text
    assert text.count("is the best of") == 1
    assert "Kept, about" not in text
    has_difference = said["indistinguishable"] is not None or len(said["tied"] or ()) > 1
    assert ("Difference from the best" in text) is has_difference


async def test_two_configurations_stand_side_by_side(market):
    api, worker, entry = market
    place = await answered(api, worker, entry, ASKED)
    found = await look(api, f"{place}?first=c0&second=c3")
    assert "c0 (A) and c3 (B), side by side" in found.text
    assert "The ranking has no configuration nothing" in (await look(api, f"{place}?second=nothing")).text


async def test_a_comparison_is_with_the_best_on_every_page_of_the_ranking(market, monkeypatch):
    monkeypatch.setattr("app.advice.pages.answer.ROWS", 1)
    api, worker, entry = market
    place = await answered(api, worker, entry, ASKED)
    best = (await api.get(f"/v1{place}")).json()["configuration"]
    for start in (1, 9_000):
        assert f"Facts {best} c3" in (await look(api, f"{place}?start={start}&second=c3")).text


WRONG_QUESTIONS = [
    ({"measure": "nonsense"}, "Unknown measure"),
    ({"require-k": "many"}, "k: give a number, such as 10"),
    ({"require-k": "nan"}, "Correct what is marked"),
    ({"require-k": "1e999"}, "k: give a number, such as 10"),
    ({"attributes": "nothing"}, "The entry has no attribute"),
    ({"step-age": "3"}, "attributes: The list is empty"),
    ({"attributes": ["age", "sex"], "step-age": "0", "step-sex": "0"}, "All weights are zero"),
]


def test_weights_that_the_page_does_not_show_for_a_measure_are_not_asked_with():
    boxes = {"attributes": ["age", "sex"], "step-age": ["5"], "step-sex": ["2"]}
    weights = [
        question_members(Form({**boxes, "measure": [one]}), ["age", "sex"])["weights"] for one in ("joint", "g3")
    ]
    assert weights == [None, {"age": 4.0, "sex": 0.5}]


def test_a_label_is_never_scored_and_the_default_one_is_then_an_attribute():
    names = ["age", "smoker"]

    def asked(label, *ticked):
        boxes = {f"step-{name}": ["3"] for name in ("health", *names)}
        return question_members(Form({**boxes, "label": [label], "attributes": [*ticked]}), names, "health")

    assert "attributes" not in asked("smoker", "health", "age", "smoker")
    assert asked("smoker", "age", "smoker")["attributes"] == ["age"]
    assert asked("health", "age", "smoker")["label"] is None
    assert "attributes" not in asked("health", "health", "age", "smoker")


def test_a_label_and_its_masking_are_asked_again_by_link_and_command():
    question = wire.AdviceRequest(measure="g3", label="smoker", target="smoker-2")
    form = Form(parse_qs(urlsplit(question_link("e", question)).query))
    members = question_members(form, ["age", "smoker"], "health")
    assert (members["label"], members["target"]) == ("smoker", "smoker-2")
    [line] = question_commands(Viewer(OWNER), "e", question).aegis
    assert line.endswith("--measure g3 --label smoker --target smoker-2")


async def test_the_best_trades_are_drawn_by_two_axes_and_each_can_be_requested(market):
    api, worker, entry = market
    published = two_attributes(name="priced") | {"format": 5}
    for place, one in enumerate(published["configurations"]):
        one |= {"privacy": {"k": 2 + place}, "price": {"amount": 90 - 20 * place, "currency": "EUR"}}
    entry = (await publish(api, published))["id"]
    form = await look(api, f"/entries/{entry}/ask?frontier=k&frontier=price")
    boxes = {one["value"]: "checked" in one for one in form.all("input") if one["name"] == "frontier"}
    assert boxes == {"k": True, "suppressed": False, "price": True}
    assert "price in EUR" in form.text
    assert "Price (EUR)" in (await look(api, f"/entries/{entry}")).text
    place = await answered(api, worker, entry, ASKED | {"frontier": ["k", "price"]})
    found = await look(api, f"{place}?across=k&up=price")
    assert "Price against k" in found.text
    assert "price (EUR)" in found.text
    answer = (await api.get(f"/v1{place}")).json()
    knee = answer["frontier"]["knee"]["configuration"]
    assert f"{knee} (knee)" in found.text
    assert "--frontier k,price" in found.text
    for point in answer["frontier"]["points"]:
        link = f"/requests/new?advice={answer['id']}&configuration={point['configuration']}"
        assert link in found.links
    request = await look(api, link)
    assert [one["value"] for one in request.all("input") if one["name"] == "configuration"] == [point["configuration"]]
    refused = await send(api, f"/entries/{entry}/ask", ASKED | {"frontier": ["k", "t"]})
    assert refused.status_code == 422
    assert "states a promise of t" in Html(refused.text).text


async def test_a_wrong_question_is_explained_on_the_form_which_keeps_its_fields(market):
    api, _, entry = market
    for fields, said in WRONG_QUESTIONS:
        answer = await send(api, f"/entries/{entry}/ask", ASKED | {"require-k": "7"} | fields)
        assert answer.status_code == 422, fields
        found = Html(answer.text)
        assert said in found.text, fields
        typed = {one["name"]: one["value"] for one in found.all("input")}
        assert typed["require-k"] == fields.get("require-k", "7"), fields


async def test_progress_is_a_part_of_the_page_until_the_answer_is_there(market):
    api, worker, entry = market
    answer = await send(api, f"/entries/{entry}/ask", ASKED)
    place = answer.headers["Location"]
    found = await look(api, place)
    assert "Your question is being answered" in found.text
    polled = next(named["hx-get"] for _, named in found.tags if "hx-get" in named)
    assert place in found.links  # for those without scripts
    assert "HX-Refresh" not in (await api.get(polled, headers=BROWSER)).headers
    await worker.run()
    assert (await api.get(polled, headers=BROWSER)).headers["HX-Refresh"] == "true"


async def test_texts_of_the_provider_are_shown_as_texts(database_url):
    entry = example_entry(title=NASTY, visibility="all")
    entry["attributes"][0]["name"] = NASTY
    for configuration in entry["configurations"]:
        configuration["maskings"] = {NASTY: configuration["maskings"]["age"]}
        configuration["id"] += NASTY
    entry["label"]["name"] = f"label {NASTY}"
    async with running_app(database_url) as api, Worker.on(database_url) as worker:
        head = await publish(api, entry)
        place = await answered(api, worker, head["id"], ASKED)
        for path in ("/", f"/entries/{head['id']}/ask", place, f"{place}?first=x&second={NASTY}"):
            found = await look(api, path)
            assert all(one.get("src", "").startswith("/static/") for one in found.all("script"))
            assert NASTY[:20] in found.text or path == "/"


async def test_an_entry_with_many_attributes_has_a_field_for_their_names(database_url):
    entry = example_entry()
    age = entry["attributes"][0]
    entry["attributes"] = [age | {"name": f"a{place}"} for place in range(100)]
    for configuration in entry["configurations"]:
        masking = configuration["maskings"]["age"]
        configuration["maskings"] = {f"a{place}": masking for place in range(100)}
    async with running_app(database_url) as api, Worker.on(database_url) as worker:
        head = await publish(api, entry)
        assert "The entry has 100 attributes" in (await look(api, f"/entries/{head['id']}/ask")).text
        place = await answered(api, worker, head["id"], ASKED | {"named": "a3\r\na5", "weighted": "a5=4"})
        asked = (await api.get(f"/v1{place}")).json()["request"]
        assert (asked["attributes"], asked["weights"]) == (["a3", "a5"], {"a5": 4.0})
        again = await look(api, next(link for link in (await look(api, place)).links if "/ask?" in link))
        assert "a3 a5" in again.text
        assert "a5=4" in again.text


async def test_what_was_asked_elsewhere_is_asked_again_as_it_was(market):
    """A weight that no slider has, and a correction that is not the measure's default."""
    api, worker, entry = market
    question = ASKED | {"weights": {"age": 3}, "bias_correction": True}
    asked = await api.post(f"/v1/entries/{entry}/advice", json=question, headers={"Prefer": "respond-async"})
    await worker.run()
    link = next(link for link in (await look(api, f"/advice/{asked.json()['id']}")).links if "/ask?" in link)
    form = await look(api, link)
    fields = {one["name"]: one["value"] for one in form.all("input") if one["type"] != "checkbox"}
    place = await answered(api, worker, entry, ASKED | fields | {"attributes": ["age", "sex"]})
    again = (await api.get(f"/v1{place}")).json()["request"]
    assert (again["weights"], again["bias_correction"]) == ({"age": 3.0}, True)


def test_every_measure_is_said_in_words():
    assert MEASURE_WORDS.keys() == MEASURES.keys()


async def test_some_measures_are_offered_before_the_classical_ones(market):
    api, _, entry = market
    form = await look(api, f"/entries/{entry}/ask")
    offered = [one["value"] for one in form.all("option") if one.get("value") in MEASURES]
    assert (offered[: len(OFFERED)], sorted(offered)) == (list(OFFERED), sorted(MEASURES))
    assert [one["label"] for one in form.all("optgroup")] == ["Offered first", "Classical"]
