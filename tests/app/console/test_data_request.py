"""The page of a data request: what it says in each state, and what is done from it."""

import asyncio
import json
import re
import shlex
from uuid import uuid4

import pytest

from tests.app.console.asking import NASTY, act, hidden, requested
from tests.app.console.html import BROWSER, Html, look, send
from tests.app.requests.asking import entry
from tests.app.requests.test_verifications import AGREES, DELIVERED, DIFFERS
from tests.service import Worker, publish, running_app


@pytest.fixture(name="worker", scope="module")
async def _worker(_one_loop, shared_database_url):
    async with Worker.on(shared_database_url) as running:
        yield running


@pytest.fixture(name="head", scope="module")
async def _head(shared_api):
    return await publish(shared_api, entry())


@pytest.fixture(name="advised")
async def _advised(shared_api, head, worker):
    request_id = await requested(shared_api, head)
    await worker.run()
    return request_id


@pytest.fixture(name="delivered")
async def _delivered(shared_api, head, advised):
    assert (await act(shared_api, advised, "approve")).status_code == 303
    await step(shared_api, advised, "deliver", **DELIVERED, entry_digest=head["digest"], card={"note": NASTY})
    return advised


async def step(api, request_id, action, **told):
    answer = await api.post(f"/v1/requests/{request_id}/actions", json={"action": action} | told)
    assert answer.status_code == 200, answer.text


async def state_of(api, request_id):
    return (await api.get(f"/v1/requests/{request_id}")).json()["state"]


def forms(page):
    return [one["action"].rpartition("/")[2] for one in page.all("form")]


async def test_a_page_waits_for_the_advice_and_then_shows_it(shared_api, worker):
    head = await publish(shared_api, entry())  # of which nobody has asked anything
    request_id = await requested(shared_api, head)
    found = await look(shared_api, f"/requests/{request_id}")
    assert "is finding the best configuration" in found.text
    assert found.links.count(f"/requests/{request_id}") == 1  # to look again without scripts
    polled = next(named for _, named in found.tags if "hx-get" in named)
    assert polled["hx-trigger"] == "every 2s"
    assert (await shared_api.get(polled["hx-get"], headers=BROWSER)).status_code == 204
    await worker.run()
    answer = await shared_api.get(polled["hx-get"], headers=BROWSER)
    part = Html(answer.text)
    assert part.tags[0] == ("div", {"id": "request"})
    assert "c01" in part.text
    assert "approve" in forms(part)
    assert f"/requests/{request_id}" not in part.links


async def test_a_page_says_the_true_rank_and_offers_at_one_click_what_loses_less(shared_api, head, worker):
    request_id = await requested(shared_api, head, configuration="c02")
    await worker.run()
    found = await look(shared_api, f"/requests/{request_id}")
    assert "2 of 2 by what it loses; c01 (age in 2 bands) loses the least" in found.text
    assert "none loses less" not in found.text
    assert hidden(found)["configuration"] == "c01"
    assert (await act(shared_api, request_id, "counter")).status_code == 303
    found = await look(shared_api, f"/requests/{request_id}")
    assert "1 of 2 by what it loses: none loses less" in found.text
    assert "configuration" not in hidden(found)


async def test_what_can_be_offered_instead_is_listed_with_what_it_keeps_promises_and_has(shared_api, advised):
    found = " ".join((await look(shared_api, f"/requests/{advised}")).text.split())
    _, table = found.split("All other configurations that meet the requirements, best first")
    assert re.match(r" Configuration Rank Keeps k Records c02 .* 2 0 % 50 up to \d+ ", table), table[:200]
    assert "c03" not in table.partition("Decline")[0]


async def test_a_request_is_approved_with_a_reason_and_then_fulfilled(shared_api, advised):
    answer = await act(shared_api, advised, "approve", reason="The ethics board has agreed")
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/requests/{advised}")
    found = await look(shared_api, f"/requests/{advised}")
    assert "The ethics board has agreed" in found.text
    assert f"aegis requests fulfil {advised} TABLE.csv --plan release/configurations.yaml" in found.text
    assert forms(found) == ["decline", "withdraw", "end", "erase-contact"]
    assert "Take the approval back" in found.text
    assert next(named["hx-trigger"] for _, named in found.tags if "hx-get" in named) == "every 10s"


async def test_the_head_of_the_card_is_shown_to_who_approves_and_renewed_with_the_delivery(shared_api, worker):
    head = await publish(shared_api, entry() | {"description": f"**People at risk: look.** {NASTY}"})
    request_id = await requested(shared_api, head)
    await worker.run()
    found = await look(shared_api, f"/requests/{request_id}")
    assert found.text.index("People at risk: look.") < found.text.index("You agree to hand over the table")
    await act(shared_api, request_id, "approve")
    card = {"for_consumers": f"**People at risk: stop.** {NASTY}"}
    await step(shared_api, request_id, "deliver", **DELIVERED, entry_digest=head["digest"], card=card)
    answer = (await shared_api.get(f"/requests/{request_id}", headers=BROWSER)).text
    assert "<strong>People at risk: stop.</strong>" in answer
    assert ("People at risk: look." in answer, "<script>alert" in answer) == (False, False)


async def test_the_call_that_delivers_is_the_one_that_is_shown(shared_api, head, advised):
    await act(shared_api, advised, "approve")
    found = await look(shared_api, f"/requests/{advised}")
    words = shlex.split(re.search(rf"curl [^$]*\$AEGIS_URL/v1/requests/{advised}/actions\"", found.text)[0])
    shown = json.loads(words[words.index("--data-binary") + 1])
    assert shown["entry_digest"] == head["digest"]
    await step(shared_api, advised, shown.pop("action"), **shown | DELIVERED)


async def test_a_limit_that_is_reached_is_said_and_the_form_keeps_it(shared_api, advised):
    answer = await act(shared_api, advised, "approve", reason=NASTY, **{"limit-requests": "0", "limit-days": "7"})
    assert answer.status_code == 409
    found = Html(answer.text)
    assert "was granted 0 requests or more in 7 days" in found.text
    typed = {one.get("name"): one.get("value") for one in found.all("input")}
    assert (typed["limit-requests"], typed["limit-days"]) == ("0", "7")
    assert NASTY[:20] in found.text
    assert await state_of(shared_api, advised) == "advised"


WRONG_DECISIONS = [
    ("approve", {"limit-requests": "some"}, "requests: give a whole number"),
    ("approve", {"limit-requests": "1", "limit-days": "0"}, "days: give at least 1"),
    ("approve", {"reason": "x" * 2_001}, "reason: "),
    ("decline", {}, "reason: "),
    ("end", {"reason": " "}, "reason: "),
    ("counter", {"configuration": "nothing"}, "is not in the ranking"),
    ("counter", {"configuration": "c01"}, "is what the consumer asks for"),
    ("counter", {"configuration": "c03"}, "is not in the ranking"),
    ("counter", {}, "configuration: "),
]


async def test_what_is_wrong_with_a_decision_is_said_on_the_page(shared_api, advised):
    for action, fields, said in WRONG_DECISIONS:
        answer = await act(shared_api, advised, action, **fields)
        assert answer.status_code == 422, (action, fields)
        found = Html(answer.text)
        assert said in found.text, (action, fields)
        assert action in forms(found), (action, fields)
    assert await state_of(shared_api, advised) == "advised"


async def test_another_configuration_is_offered_and_accepted(shared_api, advised):
    found = await look(shared_api, f"/requests/{advised}")
    assert [one["value"] for one in found.all("option")] == ["c02"]
    assert (await act(shared_api, advised, "counter", configuration="c02", reason="k = 50")).status_code == 303
    found = await look(shared_api, f"/requests/{advised}")
    assert "Counter-offer" in found.text
    assert forms(found) == ["accept", "withdraw", "end", "erase-contact"]
    assert (await act(shared_api, advised, "accept")).status_code == 303
    assert await state_of(shared_api, advised) == "approved"


@pytest.mark.parametrize(
    ("action", "state"), [("decline", "declined"), ("withdraw", "withdrawn"), ("end", "ended")], ids=str
)
async def test_a_request_ends_for_a_reason(shared_api, advised, action, state):
    assert (await act(shared_api, advised, action, reason=f"{NASTY} it is over")).status_code == 303
    found = await look(shared_api, f"/requests/{advised}")
    assert state in found.text
    assert "it is over" in found.text
    assert forms(found) == ["erase-contact"]
    assert not [one for _, one in found.tags if "hx-get" in one]


async def test_a_contact_is_erased(shared_api, advised):
    assert (await act(shared_api, advised, "erase-contact")).status_code == 303
    assert (await shared_api.get(f"/v1/requests/{advised}")).json()["contact"] is None
    found = await look(shared_api, f"/requests/{advised}")
    assert "erased" in found.text
    assert "erase-contact" not in forms(found)


async def test_a_form_that_is_sent_twice_at_once_is_carried_out_once(shared_api, advised):
    fields = hidden(await look(shared_api, f"/requests/{advised}"))
    answers = await asyncio.gather(*(send(shared_api, f"/requests/{advised}/approve", fields) for _ in range(3)))
    assert [answer.status_code for answer in answers] == [303, 303, 303]
    changes = (await shared_api.get(f"/v1/requests/{advised}")).json()["changes"]
    assert [change["action"] for change in changes] == ["request", "advise", "approve"]


async def test_who_comes_too_late_reads_what_happened_and_keeps_what_was_written(shared_api, advised):
    fields = hidden(await look(shared_api, f"/requests/{advised}"))
    assert (await act(shared_api, advised, "withdraw")).status_code == 303
    answer = await send(shared_api, f"/requests/{advised}/approve", fields | {"reason": "We have agreed"})
    assert answer.status_code == 409
    found = Html(answer.text)
    assert "This request is withdrawn, so approve is not possible" in found.text
    assert "We have agreed" in found.text


async def test_of_two_different_steps_at_once_one_is_taken(shared_api, advised):
    more = {"reason": "so", "configuration": "c02"}
    fields = [hidden(await look(shared_api, f"/requests/{advised}")) | more for _ in range(2)]
    places = [f"/requests/{advised}/{action}" for action in ("approve", "counter")]
    answers = await asyncio.gather(*map(send, [shared_api] * 2, places, fields))
    assert sorted(answer.status_code for answer in answers) == [303, 409]
    assert len((await shared_api.get(f"/v1/requests/{advised}")).json()["changes"]) == 3


async def test_a_delivery_is_shown_with_its_link_and_how_to_receive_it(shared_api, delivered):
    found = await look(shared_api, f"/requests/{delivered}")
    link = next(one for one in found.all("a") if one["href"] == DELIVERED["url"])
    assert link["rel"] == "noopener noreferrer"
    for told in (DELIVERED["sha256"], "481 kB", "100 records", f"aegis receive {delivered} --output received.csv"):
        assert told in found.text
    assert NASTY[:8] in found.text
    assert all(one.get("src", "").startswith("/static/") for one in found.all("script"))


async def test_the_page_of_a_delivery_waits_for_the_verdict_and_then_shows_it(shared_api, delivered):
    before = await look(shared_api, f"/requests/{delivered}")
    polled = next(named for _, named in before.tags if "hx-get" in named)
    assert polled["hx-trigger"] == "every 10s"
    await step(shared_api, delivered, "receive", **AGREES)
    found = Html((await shared_api.get(polled["hx-get"], headers=BROWSER)).text)
    assert "12 counts compared, none differ" in found.text
    assert "k, at least 5 5 6 kept" in found.text
    assert "t, at most not required 0.2 0.2 kept" in found.text


async def test_a_disputed_table_is_shown_with_the_counts_that_differ(shared_api, delivered):
    told = DIFFERS | {"size": 7, "sha256": "0" * 64, "privacy": {"k": 4}, "reason": NASTY}
    await step(shared_api, delivered, "dispute", **told)
    found = await look(shared_api, f"/requests/{delivered}")
    assert "12 counts compared, 1 differs" in found.text
    assert f"{'0' * 64} not as delivered" in found.text
    assert "k, at least 5 5 4 not kept" in found.text
    assert "4 5 must be equal" in found.text


async def test_a_receipt_is_downloaded_and_checked_by_the_lines_of_the_page(
    shared_api, delivered, tmp_path, monkeypatch, aegis
):
    found = await look(shared_api, f"/requests/{delivered}")
    assert f"/requests/{delivered}/receipt" in found.links
    answer = await shared_api.get(f"/requests/{delivered}/receipt", headers=BROWSER)
    name = re.search(r'filename="([^"]+)"', answer.headers["Content-Disposition"])[1]
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(answer.content)
    (tmp_path / "keys.json").write_bytes((await shared_api.get("/.well-known/aegis-keys.json")).content)
    words = shlex.split(re.search(rf"aegis audit --check {name} --keys keys.json", found.text)[0])
    code, out, _ = await asyncio.to_thread(aegis, *words[1:])
    assert code == 0
    assert f"request {delivered} of default: delivered" in out


async def test_a_service_that_signs_nothing_offers_no_receipt(database_url):
    async with running_app(database_url) as api:
        request_id = await requested(api)
        found = await look(api, f"/requests/{request_id}")
        assert f"/requests/{request_id}/receipt" not in found.links
        assert "has no key to sign receipts with" in found.text
        await look(api, f"/requests/{request_id}/receipt", 501)


async def test_a_request_for_an_older_version_says_so(shared_api, worker):
    document = entry()
    head = await publish(shared_api, document)
    request_id = await requested(shared_api, head)
    await worker.run()
    answer = await shared_api.put(
        f"/v1/entries/{head['id']}",
        params={"accept_small_counts": "true"},
        json=document | {"title": "Another"},
        headers={"If-Match": "*"},
    )
    assert answer.status_code == 200, answer.text
    assert "the entry has a newer version" in (await look(shared_api, f"/requests/{request_id}")).text
    assert "newer version" in (await look(shared_api, f"/requests?entry={head['id']}")).text


@pytest.mark.parametrize("place", ["", "/now", "/receipt"], ids=["page", "part", "receipt"])
async def test_a_request_that_is_not_there_is_not_found(shared_api, place):
    await look(shared_api, f"/requests/{uuid4()}{place}", 404)
    await look(shared_api, f"/requests/nonsense{place}", 404)


async def test_an_unknown_step_or_a_foreign_page_changes_nothing(shared_api, advised):
    fields = hidden(await look(shared_api, f"/requests/{advised}"))
    assert (await send(shared_api, f"/requests/{advised}/deliver", fields)).status_code == 404
    assert (await send(shared_api, f"/requests/{uuid4()}/approve", fields)).status_code == 404
    foreign = {"Origin": "https://evil.example"}
    assert (await send(shared_api, f"/requests/{advised}/approve", fields, **foreign)).status_code == 403
    assert await state_of(shared_api, advised) == "advised"


async def test_a_page_says_what_the_consumer_has_of_the_table_and_grants_more_by_a_tick(shared_api, worker):
    head = await publish(shared_api, entry())
    first, second = [await requested(shared_api, head, configuration=each) for each in ("c01", "c02")]
    await worker.run()
    assert (await act(shared_api, first, "approve")).status_code == 303
    page = await look(shared_api, f"/requests/{second}")
    assert "has of the same table: c01 of" in page.text
    assert "this one can be made from it, so nothing new leaves" in page.text
    assert "accept_composition" not in {one.get("name") for one in page.all("input")}
    try:
        await shared_api.put("/v1/policy", json={"composition": "one"})
        page = await look(shared_api, f"/requests/{second}")
        assert "The policy one forbids configuration c02 beside what default has of the same table. c01 keeps it." in (
            page.text
        )
        refused = await act(shared_api, second, "approve")
        assert (refused.status_code, "only what it has" in refused.text) == (409, True)
        assert (await act(shared_api, second, "approve", accept_composition="on")).status_code == 303
    finally:
        await shared_api.put("/v1/policy", json={})
    assert f"Accepted beside c01 of {head['name']}, version 1" in (await look(shared_api, f"/requests/{second}")).text
