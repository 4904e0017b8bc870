"""Keys in the console: the first one ends development mode, each is shown once, and none is created twice."""

import re

import pytest

from tests.console import form_of, send, text_of
from tests.service import keyring_of, prefix_of, running_app

NEW = "/operator/keys/new"


async def created(api, **fields):
    answer = await send(api, await api.get(NEW), "/operator/keys", tenant="hospital", role="provider", **fields)
    assert answer.status_code == 201, answer.text
    return answer


def key_in(page):
    return re.search(r"aegis_[0-9a-f]{8}_[\w-]{43}", page.text)[0]


async def test_the_first_key_is_said_to_end_development_mode_with_the_next_start(api, database_url):
    form = await api.get(NEW)
    assert "ends development mode for good" in text_of(form)
    assert "until it is started again" in text_of(form)
    answer = await send(api, form, "/operator/keys", tenant="default", role="operator")
    assert "This service still needs no key" in text_of(answer)
    assert (await api.get("/v1/entries")).status_code == 200  # as the page says
    assert "needs none until it is started again" in text_of(await api.get(NEW))
    async with running_app(database_url) as restarted:
        assert (await restarted.get("/v1/entries")).status_code == 401
        bearer = {"Authorization": f"Bearer {key_in(answer)}"}
        assert (await restarted.get("/v1/entries", headers=bearer)).status_code == 200


async def test_a_new_key_is_shown_once_and_the_same_form_creates_no_second_one(api):
    form = await api.get(NEW)
    fields = {"tenant": "hospital", "role": "provider"}
    answer = await send(api, form, "/operator/keys", **fields)
    text, prefix = key_in(answer), prefix_of(key_in(answer))
    assert answer.headers["cache-control"] == "no-store"
    assert "It is not shown again" in text_of(answer)
    again = await send(api, form, "/operator/keys", **fields)
    assert "no second key was created" in text_of(again)
    assert prefix in again.text
    assert text not in again.text
    listing = await api.get("/operator/keys", params={"tenant": "hospital"})
    assert text_of(listing).count(prefix) == 1
    assert text not in listing.text
    other = await send(api, form, "/operator/keys", **fields | {"role": "consumer"})  # by Back, and changed
    assert key_in(other) != text


async def test_forms_without_their_token_create_no_key(api, database_url):
    answer = await send(api, await api.get(NEW), "/operator/keys", tenant="hospital", role="provider", once="short")
    assert answer.status_code == 400
    async with keyring_of(database_url) as keyring:
        assert not await keyring.any_created()


@pytest.mark.parametrize(
    ("fields", "fault"),
    [({"role": "king"}, "role"), ({"expires_days": "soon"}, "expires_days"), ({"tenant": ""}, "tenant")],
)
async def test_wrong_fields_are_named_and_what_was_typed_stays(api, fields, fault):
    typed = {"tenant": "hospital <b>", "role": "provider", "expires_days": "7"} | fields
    answer = await send(api, await api.get(NEW), "/operator/keys", **typed)
    assert answer.status_code == 422
    assert f"{fault}: " in text_of(answer)
    form = form_of(answer, "/operator/keys")
    assert (form["tenant"], form["expires_days"]) == (typed["tenant"], typed["expires_days"])


async def test_a_key_is_replaced_with_an_overlap_and_then_revoked_after_a_question(api):
    old = prefix_of(key_in(await created(api)))
    place = f"/operator/keys/{old}"
    answer = await send(api, await api.get(place), f"{place}/successor", overlap_hours="2")
    new = prefix_of(key_in(answer))
    assert f"Replaces {old} , which ends" in text_of(answer)
    assert f"Replaced by {new}" in text_of(await api.get(place))
    assert f"replaced by {new}" in text_of(await api.get("/operator/keys"))
    assert "Replace it" not in text_of(await api.get(place))
    asked = await api.get(f"{place}/revoke")
    assert f"Revoke the key {old} ?" in text_of(asked)
    assert (await send(api, asked, f"{place}/revoke")).headers["location"] == place
    assert "State revoked" in text_of(await api.get(place))


async def test_wrong_numbers_in_the_form_of_a_successor_are_named(api):
    place = f"/operator/keys/{prefix_of(key_in(await created(api)))}"
    answer = await send(api, await api.get(place), f"{place}/successor", overlap_hours="99999")
    assert answer.status_code == 422
    assert "overlap_hours: " in text_of(answer)


async def test_keys_that_are_not_there_and_page_tokens_that_are_none_are_refused(api):
    assert (await api.get("/operator/keys/aegis_00000000")).status_code == 404
    assert (await api.get("/operator/keys", params={"page_token": "x"})).status_code == 422
