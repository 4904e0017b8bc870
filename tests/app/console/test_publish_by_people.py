"""Publishing where everybody has a key: who may, and what others' entries have to do with it."""

import json

import pytest

from tests.app.console.html import Html
from tests.app.console.publishing import fields_of, large_counts
from tests.console import browsing, csrf_in
from tests.service import create_key, example_entry


@pytest.fixture
async def market(database_url):
    """Browsers of people of two tenants, by role."""
    keys = {role: await create_key(database_url, "clinic", role) for role in ("consumer", "reviewer", "provider")}
    keys["rival"] = await create_key(database_url, "rival", "provider")
    async with browsing(database_url) as anybody:
        browsers = {"nobody": anybody}
        for role, key in keys.items():
            browsers[role] = anybody.another()
            await browsers[role].sign_in(key)
        yield browsers


async def upload(browser, entry, **fields):
    """Send a file from the page, in the session of a browser."""
    texts = {"csrf": csrf_in(await browser.get("/session")), **fields}
    parts = [*((name, (None, text)) for name, text in texts.items()), ("entry", ("entry.json", json.dumps(entry)))]
    return await browser.client.post("/publish", files=parts, headers={"Origin": browser.origin})


async def test_only_providers_publish_and_others_learn_whom_to_ask(market):
    for role in ("consumer", "reviewer"):
        browser = market[role]
        page = await browser.get("/publish")
        assert page.status_code == 403
        assert "Ask an administrator of clinic" in Html(page.text).text
        assert "/publish" not in Html((await browser.get("/session")).text).links
        assert (await upload(browser, large_counts())).status_code == 403
        for path in ("/publish/confirm", "/publish/example"):
            assert (await browser.send(path, document="H4sI")).status_code in (403, 404)
    for path in ("/publish", "/publish/confirm", "/publish/example"):
        assert (await market["nobody"].post(path)).headers["Location"].startswith("/sign-in")
    assert "/publish" in Html((await market["provider"].get("/session")).text).links


async def test_forged_forms_of_somebody_who_is_signed_in_publish_nothing(market):
    browser = market["provider"]
    checked = await upload(browser, large_counts())
    assert checked.status_code == 200
    for csrf in ("", "forged", csrf_in(await market["rival"].get("/session"))):
        assert (await upload(browser, large_counts(), csrf=csrf)).status_code == 403
        sent = fields_of(checked) | {"csrf": csrf}
        assert (await browser.post("/publish/confirm", **sent)).status_code == 403
    assert (await browser.post("/publish/confirm", **fields_of(checked))).status_code == 303


async def test_there_is_no_example_where_keys_are(market):
    assert (await market["provider"].send("/publish/example")).status_code == 404
    assert "Publish the example" not in (await market["provider"].get("/publish")).text


async def test_the_name_of_another_tenants_entry_is_free_and_stays_unknown(market):
    theirs = await upload(market["rival"], large_counts(title="Theirs"))
    entry = (await market["rival"].post("/publish/confirm", **fields_of(theirs))).headers["Location"]
    mine = await upload(market["provider"], large_counts(title="Mine"))
    assert mine.status_code == 200
    assert "becomes its version" not in mine.text
    assert "Theirs" not in mine.text
    entry_id = entry.rpartition("/")[2]
    assert (await market["provider"].get(f"/publish?version_of={entry_id}")).status_code == 404
    assert (await upload(market["provider"], large_counts(), version_of=entry_id)).status_code == 404
    taken_over = fields_of(mine) | {"entry_id": entry_id}
    assert (await market["provider"].post("/publish/confirm", **taken_over)).status_code == 404
    own = (await market["provider"].post("/publish/confirm", **fields_of(mine))).headers["Location"]
    assert own != entry


async def test_people_with_keys_must_accept_small_counts(market):
    checked = await upload(market["provider"], example_entry())
    refused = await market["provider"].post("/publish/confirm", **fields_of(checked))
    assert refused.status_code == 422
    accepted = fields_of(refused) | {"accept_small_counts": "on"}
    assert (await market["provider"].post("/publish/confirm", **accepted)).status_code == 303
