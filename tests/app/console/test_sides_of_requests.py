"""Who sees and does what with a data request: both of its sides, operators, and nobody else."""

import re
from html import unescape
from types import SimpleNamespace

import pytest

from tests.app.console.asking import TYPED
from tests.app.console.html import Html
from tests.app.requests.asking import entry
from tests.app.requests.test_verifications import DELIVERED, DIFFERS
from tests.console import browsing
from tests.service import AUDIT_KEY, Worker, create_key

PEOPLE = {
    "reviewer": ("hospital", "reviewer"),
    "own": ("hospital", "consumer"),
    "provider": ("hospital", "provider"),
    "consumer": ("insurer", "consumer"),
    "operator": ("desk", "operator"),
    "other": ("lab", "provider"),
}
ABOUT = ("/requests/{}", "/requests/{}/now", "/requests/{}/receipt")
NO_CSRF = {"once": "k" * 32}


@pytest.fixture(name="market", scope="module")
async def _market(_one_loop, shared_database_url):
    """Everybody signed in, an entry that all see, and a worker."""
    keys = {name: await create_key(shared_database_url, *one) for name, one in PEOPLE.items()}
    async with browsing(shared_database_url, audit_key=AUDIT_KEY) as first, Worker.on(shared_database_url) as worker:
        people = {name: first.another() for name in keys}
        for name, browser in people.items():
            assert (await browser.sign_in(keys[name])).status_code == 303
        head = await first.client.post(
            "/v1/entries",
            params={"accept_small_counts": "true"},
            json=entry(),
            headers=keys["provider"] | {"Accept": "application/json"},
        )
        yield SimpleNamespace(people=people, keys=keys, head=head.json(), worker=worker, api=first.client)


@pytest.fixture(name="advised")
async def _advised(market):
    """A request of the consumer, made by its form."""
    browser = market.people["consumer"]
    fields = hidden(await browser.get(f"/requests/new?entry={market.head['id']}"))
    answer = await browser.post("/requests/new", **fields | TYPED)
    assert answer.status_code == 303, answer.text
    await market.worker.run()
    return answer.headers["Location"].rpartition("/")[2]


def hidden(answer):
    fields = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', answer.text)
    return {name: unescape(text) for name, text in fields}


async def act(market, who, request_id, action, **fields):
    """Send a form that somebody could send who reads the page of a request."""
    browser = market.people[who]
    page = hidden(await browser.get(f"/requests/{request_id}"))
    fields = NO_CSRF | hidden(await browser.get("/session")) | page | fields
    return await browser.post(f"/requests/{request_id}/{action}", **fields)


async def step(market, who, request_id, action, told):
    asked = {"action": action} | told
    answer = await market.api.post(f"/v1/requests/{request_id}/actions", json=asked, headers=market.keys[who])
    assert answer.status_code == 200, answer.text


async def seen(market, request_id):
    """The page of a request as each reads it who may."""
    pages = {who: await market.people[who].get(f"/requests/{request_id}") for who in PEOPLE if who != "other"}
    assert {answer.status_code for answer in pages.values()} == {200}
    return {who: Html(answer.text) for who, answer in pages.items()}


def steps(page, request_id):
    place = f"/requests/{request_id}/"
    return [one["action"].removeprefix(place) for one in page.all("form") if one["action"].startswith(place)]


async def test_each_side_may_do_what_is_its_own(market, advised):
    pages = await seen(market, advised)
    assert {who: steps(page, advised) for who, page in pages.items()} == {
        "reviewer": [],
        "own": [],
        "provider": ["approve", "counter", "decline"],
        "consumer": ["withdraw", "erase-contact"],
        "operator": ["approve", "counter", "decline", "withdraw", "end", "erase-contact"],
    }
    lists = {who: (await browser.get("/requests")).text for who, browser in market.people.items()}
    assert {who for who, text in lists.items() if f"/requests/{advised}" in text} == set(PEOPLE) - {"other"}
    advice = {who for who, page in pages.items() if any(str(link).startswith("/advice/") for link in page.links)}
    assert advice == {"consumer", "operator"}
    # Others know only that nothing loses a step less.
    told = {who for who, page in pages.items() if "none loses less" in page.text}
    assert told == {"reviewer", "provider", "operator"}
    for who in advice:
        link = next(link for link in pages[who].links if str(link).startswith("/advice/"))
        assert (await market.people[who].get(link)).status_code == 200


async def test_who_may_not_take_a_step_is_refused(market, advised):
    fields = {"reason": "so", "configuration": "c02"}
    for who in ("consumer", "own", "reviewer"):
        for action in ("approve", "counter", "decline", "end"):
            assert (await act(market, who, advised, action, **fields)).status_code == 403
    for action in ("withdraw", "end", "erase-contact"):
        assert (await act(market, "provider", advised, action, **fields)).status_code == 403
    page = (await seen(market, advised))["consumer"]
    assert "advised" in page.text


async def test_for_a_third_tenant_a_request_does_not_exist(market, advised):
    for place in ABOUT:
        assert (await market.people["other"].get(place.format(advised))).status_code == 404
    for action in ("approve", "counter", "decline", "accept", "withdraw", "end", "erase-contact"):
        assert (await act(market, "other", advised, action, reason="so", configuration="c02")).status_code == 404


async def test_who_is_not_signed_in_is_led_to_where_one_can(market, advised):
    stranger = market.people["other"].another()
    for place in (*ABOUT, "/requests", "/requests/new"):
        answer = await stranger.get(place.format(advised))
        assert (answer.status_code, answer.headers["Location"].split("?")[0]) == (303, "/sign-in")
    polled = await stranger.get(f"/requests/{advised}/now", **{"HX-Request": "true"})
    assert (polled.status_code, polled.headers["HX-Refresh"]) == (204, "true")
    answer = await stranger.post(f"/requests/{advised}/approve", **NO_CSRF)
    assert answer.headers["Location"].startswith("/sign-in")


async def test_a_form_without_the_token_of_its_session_changes_nothing(market, advised):
    for csrf in ("", "nonsense", hidden(await market.people["consumer"].get("/session"))["csrf"]):
        answer = await market.people["provider"].post(f"/requests/{advised}/approve", **NO_CSRF | {"csrf": csrf})
        assert answer.status_code == 403
    assert "advised" in (await seen(market, advised))["provider"].text


async def test_only_the_provider_is_told_how_to_deliver(market, advised):
    assert (await act(market, "provider", advised, "approve")).status_code == 303
    told = {who: f"aegis requests fulfil {advised}" in page.text for who, page in (await seen(market, advised)).items()}
    assert told == {"reviewer": False, "own": False, "provider": True, "consumer": False, "operator": True}


async def test_counts_that_differ_are_for_those_who_may_read_counts(market, advised):
    assert (await act(market, "provider", advised, "approve")).status_code == 303
    await step(market, "provider", advised, "deliver", DELIVERED | {"entry_digest": market.head["digest"]})
    pages = await seen(market, advised)
    told = {who: f"aegis receive {advised}" in page.text for who, page in pages.items()}
    assert told == {"reviewer": False, "own": False, "provider": False, "consumer": True, "operator": True}
    await step(market, "consumer", advised, "dispute", DIFFERS)
    told = {who: "4 5 must be equal" in page.text for who, page in (await seen(market, advised)).items()}
    assert told == {"reviewer": True, "own": False, "provider": True, "consumer": True, "operator": True}


async def test_each_side_gets_the_receipt_that_is_its_own(market, advised):
    for who in ("provider", "consumer"):
        answer = await market.people[who].get(f"/requests/{advised}/receipt")
        path = f"/v1/requests/{advised}/receipt"
        same = await market.api.get(path, headers=market.keys[who] | {"Accept": "application/json"})
        assert answer.json()["claims"]["entry"] == same.json()["claims"]["entry"]
        is_content = answer.json()["claims"]["entry"]["digest"].startswith("sha256:")
        assert is_content == (who == "provider")
