"""Data requests: the list, and the form of a new one."""

import asyncio
import re
import shlex
from uuid import uuid4

import pytest

from tests.app.console.asking import NASTY, TYPED, filled_in, hidden, requested
from tests.app.console.html import BROWSER, Html, look, send
from tests.app.requests.asking import entry, wanted
from tests.service import ask, example_entry, publish, running_app


@pytest.fixture(name="head", scope="module")
async def _head(shared_api):
    return await publish(shared_api, entry())


async def listed(api, **asked):
    return (await api.get("/v1/requests", params=asked)).json()["items"]


async def test_without_requests_the_list_says_what_to_do_next(database_url):
    async with running_app(database_url) as api:
        found = await look(api, "/requests")
    assert "There are no requests yet" in found.text
    assert "/" in found.links


async def test_the_list_is_what_the_api_lists_page_by_page(shared_api, head):
    path = f"/v1/entries/{head['id']}/requests"
    made = [(await shared_api.post(path, json=wanted(head))).json()["id"] for _ in range(27)]
    place, seen = f"/requests?entry={head['id']}", []
    for _ in range(2):
        found = await look(shared_api, place)
        seen += [link.removeprefix("/requests/") for link in found.links if re.match(r"/requests/[0-9a-f-]{36}", link)]
        place = next((link for link in found.links if "page_token" in link), None)
    assert seen[: len(made)] == made[::-1]
    assert seen == [one["id"] for one in await listed(shared_api, entry=head["id"], limit=100)][: len(seen)]


@pytest.mark.parametrize(
    "asked", ["state=received", "entry=nonsense", f"entry={uuid4()}"], ids=["state", "no id", "id"]
)
async def test_a_list_of_nothing_leads_back_to_all(shared_api, asked):
    found = await look(shared_api, f"/requests?{asked}")
    assert "No visible request matches" in found.text
    assert f"aegis requests list --{asked.replace('=', ' ')}" in found.text


async def test_a_state_that_does_not_exist_is_refused(shared_api):
    await look(shared_api, "/requests?state=sold", 422)


async def test_the_form_shows_the_terms_and_makes_the_request(shared_api):
    head = await publish(shared_api, entry(license="CC0", terms={"permission": [{"action": "use"}]}))
    found = await look(shared_api, f"/requests/new?entry={head['id']}")
    assert "CC0" in found.text
    assert '"action": "use"' in found.text
    request_id = await requested(shared_api, head)
    made = (await shared_api.get(f"/v1/requests/{request_id}")).json()
    assert (made["state"], made["purpose"], made["terms"]) == ("requested", TYPED["purpose"], head["terms"])
    assert made["request"]["require"] == {"k": 5.0}


async def test_a_form_that_is_sent_again_makes_one_request(shared_api):
    head = await publish(shared_api, entry())
    fields = await filled_in(shared_api, head)
    answers = await asyncio.gather(*(send(shared_api, "/requests/new", fields) for _ in range(3)))
    assert {answer.status_code for answer in answers} == {303}
    assert len({answer.headers["Location"] for answer in answers}) == 1
    assert len(await listed(shared_api, entry=head["id"])) == 1
    changed = await send(shared_api, "/requests/new", fields | {"purpose": "Another"})
    assert changed.status_code == 422
    again = hidden(Html(changed.text)) | TYPED | {"purpose": "Another"}
    assert (await send(shared_api, "/requests/new", again)).status_code == 303
    assert len(await listed(shared_api, entry=head["id"])) == 2


async def test_a_form_without_its_key_makes_nothing(shared_api):
    head = await publish(shared_api, entry())
    fields = await filled_in(shared_api, head)
    for key in ("", "short", "x" * 100, "\N{GRINNING FACE}" * 40):
        assert (await send(shared_api, "/requests/new", fields | {"once": key})).status_code == 400
    assert await listed(shared_api, entry=head["id"]) == []


WRONG = [
    ({"accept": None}, "Accept the terms"),
    ({"purpose": " "}, "State the purpose of the data"),
    ({"contact": ""}, "Give a contact for the provider"),
    ({"measure": "nonsense"}, "Unknown measure"),
    ({"require-k": "many"}, "k: give a number, such as 10"),
    ({"terms": "sha256:" + "0" * 64}, "These are not the terms of the entry"),
    ({"require-k": "51"}, "No configuration"),
]


async def test_what_is_wrong_is_said_on_the_form_which_keeps_what_was_typed(shared_api, head):
    before = len(await listed(shared_api, entry=head["id"], limit=100))
    for changes, said in WRONG:
        fields = await filled_in(shared_api, head) | {"purpose": NASTY} | changes
        given = {name: text for name, text in fields.items() if text is not None}
        answer = await send(shared_api, "/requests/new", given)
        assert answer.status_code == 422, changes
        found = Html(answer.text)
        assert said in found.text, changes
        assert NASTY[:20] in found.text or changes.get("purpose") == " "
        typed = {one.get("name"): one.get("value") for one in found.all("input")}
        assert typed["contact"] == changes.get("contact", TYPED["contact"])
        assert typed["require-k"] == changes.get("require-k", "5")
        assert typed["once"] != fields["once"], changes
    assert len(await listed(shared_api, entry=head["id"], limit=100)) == before


async def test_the_form_is_filled_in_by_the_address(shared_api, head):
    found = await look(
        shared_api, f"/requests/new?entry={head['id']}&measure=g3&require-k=50&weight-age=2&purpose=care&contact=me"
    )
    typed = {one.get("name"): one.get("value") for one in found.all("input")}
    assert (typed["require-k"], typed["step-age"], typed["contact"]) == ("50", "4", "me")
    assert [one["value"] for one in found.all("option") if "selected" in one] == ["g3"]


async def test_the_form_repeats_the_question_of_an_advice(shared_api, head):
    asked = (await ask(shared_api, head["id"], measure="g3", require={"k": 50})).json()
    found = await look(shared_api, f"/requests/new?advice={asked['id']}")
    typed = {one.get("name"): one.get("value") for one in found.all("input")}
    assert (typed["entry"], typed["version"], typed["require-k"]) == (head["id"], "1", "50")
    assert [one["value"] for one in found.all("option") if "selected" in one] == ["g3"]
    await look(shared_api, f"/requests/new?advice={uuid4()}", 404)


async def test_the_lines_of_the_form_request_the_same(shared_api, head):
    place = f"/requests/new?entry={head['id']}&measure=g3&require-k=50&purpose=local+care&contact=me%40x.example"
    found = await look(shared_api, place)
    line = next(text for text in re.findall(r"curl .*?\"\$AEGIS_URL\S+\"", found.text))
    body = shlex.split(line)[shlex.split(line).index("--data-binary") + 1]
    headers = {"Content-Type": "application/json"}
    answer = await shared_api.post(f"/v1/entries/{head['id']}/requests", content=body, headers=headers)
    assert answer.status_code == 201, answer.text
    words = shlex.split(re.search(r"aegis requests new .*? --accept-terms", found.text)[0])
    assert words[3:] == [
        head["id"], "--measure", "g3", "--require", "k=50.0", "--purpose", "local care", "--contact", "me@x.example",
        "--accept-terms",
    ]  # fmt: skip


async def test_without_an_entry_the_form_leads_to_the_catalogue(shared_api):
    assert "/" in (await look(shared_api, "/requests/new")).links
    await look(shared_api, f"/requests/new?entry={uuid4()}", 404)
    await look(shared_api, "/requests/new?entry=nonsense", 404)


async def test_texts_of_the_provider_are_shown_as_texts(shared_api):
    document = example_entry(
        name=f"entry-{uuid4().hex}", visibility="all", title=NASTY, license=NASTY, terms={NASTY: NASTY}
    )
    document["attributes"][0]["name"] = NASTY
    for configuration in document["configurations"]:
        configuration["maskings"] = {NASTY: configuration["maskings"]["age"]}
    head = await publish(shared_api, document)
    request_id = await requested(
        shared_api, head, purpose=NASTY, contact=NASTY.replace("\u202e", ""), **{"require-k": ""}
    )
    for place in (f"/requests/new?entry={head['id']}", f"/requests/{request_id}", f"/requests?entry={head['id']}"):
        answer = await shared_api.get(place, headers=BROWSER)
        found = Html(answer.text)
        assert answer.status_code == 200
        assert "alert(1)" in found.text
        assert all(one.get("src", "").startswith("/static/") for one in found.all("script"))
