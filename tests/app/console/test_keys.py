"""Keys in the console: the first one ends development mode, each is shown once, and none is created twice."""

import re

import pytest

from tests.app.console.html import Html, form_of, look, send_form
from tests.service import keyring_of, prefix_of, running_app

NEW, KEYS = "/operator/keys/new", "/operator/keys"
HOSPITAL = {"tenant": "hospital", "role": "provider"}


async def created(api, **fields):
    answer = await send_form(api, await look(api, NEW), KEYS, **HOSPITAL | fields)
    assert answer.status_code == 201, answer.text
    return key_in(answer)


def key_in(answer):
    return re.search(r"aegis_[0-9a-f]{8}_[\w-]{43}", answer.text)[0]


async def test_the_first_key_is_said_to_end_development_mode_with_the_next_start(api, database_url):
    form = await look(api, NEW)
    assert "ends development mode for good" in form.text
    assert "at the next start of the service" in form.text
    answer = await send_form(api, form, KEYS, tenant="default", role="operator")
    assert "This service still requires no key" in Html(answer.text).text
    assert (await api.get("/v1/entries")).status_code == 200  # as the page says
    assert "requires none until its next start" in (await look(api, NEW)).text
    async with running_app(database_url) as restarted:
        assert (await restarted.get("/v1/entries")).status_code == 401
        bearer = {"Authorization": f"Bearer {key_in(answer)}"}
        assert (await restarted.get("/v1/entries", headers=bearer)).status_code == 200


async def test_a_new_key_is_shown_once_and_the_same_form_creates_no_second_one(api):
    form = await look(api, NEW)
    answer = await send_form(api, form, KEYS, **HOSPITAL)
    text, prefix = key_in(answer), prefix_of(key_in(answer))
    assert answer.headers["cache-control"] == "no-store"
    assert "It cannot be shown again" in Html(answer.text).text
    again = await send_form(api, form, KEYS, **HOSPITAL)
    assert "no second key was created" in Html(again.text).text
    assert prefix in again.text
    assert text not in again.text
    listing = await look(api, f"{KEYS}?tenant=hospital")
    assert listing.text.count(prefix) == 1
    assert text not in listing.text
    other = await send_form(api, form, KEYS, tenant="hospital", role="consumer")  # by Back, and changed
    assert other.status_code == 422
    fresh = Html(other.text)
    assert "was already sent with other fields" in fresh.text
    assert key_in(await send_form(api, fresh, KEYS, tenant="hospital", role="consumer")) != text


async def test_forms_without_their_token_create_no_key(api, database_url):
    answer = await send_form(api, await look(api, NEW), KEYS, **HOSPITAL, once="short")
    assert answer.status_code == 400
    async with keyring_of(database_url) as keyring:
        assert not await keyring.any_created()


@pytest.mark.parametrize(
    ("fields", "fault"),
    [({"role": "king"}, "role"), ({"expires_days": "soon"}, "expires_days"), ({"tenant": ""}, "tenant")],
)
async def test_wrong_fields_are_named_and_what_was_typed_stays(api, fields, fault):
    typed = {"tenant": "hospital <b>", "role": "provider", "expires_days": "7"} | fields
    answer = await send_form(api, await look(api, NEW), KEYS, **typed)
    assert answer.status_code == 422
    page = Html(answer.text)
    assert f"{fault}: " in page.text
    form = form_of(page, KEYS)
    assert (form["tenant"], form["expires_days"]) == (typed["tenant"], typed["expires_days"])


async def test_a_key_is_replaced_with_an_overlap_and_then_revoked_after_a_question(api):
    old = prefix_of(await created(api))
    place = f"{KEYS}/{old}"
    answer = await send_form(api, await look(api, place), f"{place}/successor", overlap_hours="2")
    new = prefix_of(key_in(answer))
    assert f"Replaces {old}; its page" in Html(answer.text).text
    page = await look(api, place)
    assert f"Replaced by {new}" in page.text
    assert "Replace the key" not in page.text
    assert f"replaced by {new}" in (await look(api, KEYS)).text
    asked = await look(api, f"{place}/revoke")
    assert f"Revoke the key {old}?" in asked.text
    assert (await send_form(api, asked, f"{place}/revoke")).headers["location"] == place
    assert "State revoked" in (await look(api, place)).text


async def test_wrong_numbers_in_the_form_of_a_successor_are_named(api):
    place = f"{KEYS}/{prefix_of(await created(api))}"
    answer = await send_form(api, await look(api, place), f"{place}/successor", overlap_hours="99999")
    assert answer.status_code == 422
    assert "overlap_hours: " in Html(answer.text).text


async def test_keys_that_are_not_there_and_page_tokens_that_are_none_are_refused(api):
    await look(api, f"{KEYS}/aegis_00000000", 404)
    await look(api, f"{KEYS}?page_token=x", 422)
