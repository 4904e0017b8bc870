"""What others than its owners see of an entry, and what they may do there."""

import pytest

from aegis_sdk.wire import EXAMPLE_NOISY_MASKING
from tests.app.console.callers import CONSUMER, OWNER, REVIEWER
from tests.app.console.html import look
from tests.service import Worker, example_entry, publish


async def test_the_verdict_is_told_to_all_and_its_places_to_owners(api, database_url, seen_by):
    head = await publish(api, example_entry(visibility="all"))
    place = f"/entries/{head['id']}"
    assert "Pending" in (await look(api, place)).text
    async with Worker.on(database_url) as worker:
        await worker.run()
    owner = (await look(api, place)).text
    assert "Failed" in owner
    assert "/attributes/0/histogram shown by a table" in owner
    seen_by(CONSUMER)
    other = (await look(api, place)).text
    assert "Failed" in other
    assert "/attributes/0" not in other


async def test_others_read_of_an_entry_what_the_api_tells_them(api, seen_by):
    entry = example_entry(visibility={"tenants": ["stranger", "third"]})
    entry["attributes"][0]["maskings"][0] = EXAMPLE_NOISY_MASKING
    entry["configurations"][0]["suppressed"] = 41
    head = await publish(api, entry)
    place = f"/entries/{head['id']}"
    own = await look(api, place)
    assert "41 records" in own.text
    assert "third" in own.text
    seen_by(CONSUMER)
    other = await look(api, place)
    for told in ("41 records", "third", head["digest"], f"{place}/counts", f"{place}/delete", f"{place}/visibility"):
        assert told not in other.text
        assert told not in other.links
    assert "hmac-sha256:" in other.text
    assert "/summaries" not in other.text


async def test_what_was_read_by_owners_is_never_shown_to_others(api, seen_by):
    """An index is kept for each side by itself."""
    entry = example_entry(visibility="all")
    entry["configurations"][0]["suppressed"] = 41
    place = f"/entries/{(await publish(api, entry))['id']}"
    for caller, is_told in ((OWNER, True), (CONSUMER, False), (OWNER, True), (CONSUMER, False)):
        seen_by(caller)
        assert ("41 records" in (await look(api, place)).text) is is_told


@pytest.mark.parametrize(
    "part", ["", "/attribute?name=age", "/configuration?place=0", "/counts", "/visibility", "/delete"]
)
async def test_what_a_viewer_may_not_see_is_not_there(api, seen_by, part):
    place = f"/entries/{(await publish(api, example_entry()))['id']}"
    seen_by(CONSUMER)
    page = await look(api, f"{place}{part}", 404)
    assert "Self-rated" not in page.text


@pytest.mark.parametrize(("part", "caller"), [("/counts", CONSUMER), ("/visibility", CONSUMER), ("/delete", REVIEWER)])
async def test_what_a_viewer_may_not_do_is_refused(api, seen_by, part, caller):
    place = f"/entries/{(await publish(api, example_entry(visibility='all')))['id']}"
    seen_by(caller)
    await look(api, f"{place}{part}", 403)
