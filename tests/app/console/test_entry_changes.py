"""What the owners of an entry change on its pages."""

import pytest

from app.tenants.model import TenantPolicy
from tests.app.console.callers import CONSUMER, OWNER, REVIEWER
from tests.app.console.html import Html, look, send
from tests.service import ACCEPTED, example_entry, publish, tenants_of


@pytest.mark.parametrize("part", ["visibility", "delete", "sign-off"])
async def test_changes_by_others_are_refused(api, seen_by, part):
    place = f"/entries/{(await publish(api, example_entry(visibility='all')))['id']}"
    seen_by(CONSUMER)
    answer = await send(api, f"{place}/{part}", {"audience": "private"})
    assert answer.status_code == 403
    seen_by(OWNER)
    assert "everyone who uses this service" in (await look(api, place)).text


async def form_of(api, path):
    """The fields of the form of a page, as the browser would send them."""
    page = await look(api, path)
    fields = {one["name"]: one["value"] for one in page.all("input") if one.get("type") != "radio"}
    return fields | {one["name"]: one["value"] for one in page.all("input") if "checked" in one}


async def test_owners_change_who_sees_an_entry(api):
    place = f"/entries/{(await publish(api))['id']}"
    fields = await form_of(api, f"{place}/visibility")
    assert fields["audience"] == "private"
    chosen = {"audience": "tenants", "tenants": "partner\r\n second partner \r\n"}
    answer = await send(api, f"{place}/visibility", fields | chosen)
    assert (answer.status_code, answer.headers["Location"]) == (303, place)
    assert "its own tenant and partner, second partner" in (await look(api, place)).text
    # The form was made before that change.
    assert (await send(api, f"{place}/visibility", fields | {"audience": "all"})).status_code == 412


@pytest.mark.parametrize(
    ("fields", "said"),
    [({"audience": "nonsense"}, "Visibility must be"), ({"audience": "tenants", "tenants": "ok\n\x07"}, "(line 2)")],
    ids=["audience", "tenant"],
)
async def test_a_wrong_visibility_is_explained_on_the_form_which_keeps_its_fields(api, fields, said):
    place = f"/entries/{(await publish(api))['id']}"
    answer = await send(api, f"{place}/visibility", await form_of(api, f"{place}/visibility") | fields)
    assert answer.status_code == 422
    page = Html(answer.text)
    assert said in page.text
    assert fields.get("tenants", "") in answer.text


async def test_an_entry_is_deleted_after_a_page_that_asks(api):
    head = await publish(api)
    place = f"/entries/{head['id']}"
    page = await look(api, f"{place}/delete")
    assert "cannot be undone" in page.text
    assert (await send(api, f"{place}/delete", {"state": "other"})).status_code == 412
    answer = await send(api, f"{place}/delete", await form_of(api, f"{place}/delete"))
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    await look(api, place, 404)
    assert (await api.get(f"/v1/entries/{head['id']}")).status_code == 404


async def test_reviewers_sign_off_the_version_that_they_have_read(api, database_url, seen_by):
    async with tenants_of(database_url) as tenants:
        await tenants.set_policy("default", TenantPolicy(demands_sign_off=True))
    head = await publish(api, example_entry(visibility="all"))
    place = f"/entries/{head['id']}"
    seen_by(CONSUMER)
    await look(api, place, 404)
    seen_by(OWNER)
    assert f"{place}/sign-off" not in [one["action"] for one in (await look(api, place)).all("form")]
    seen_by(REVIEWER)
    fields = await form_of(api, place)
    assert (await send(api, f"{place}/sign-off", fields | {"state": "another"})).status_code == 412
    answer = await send(api, f"{place}/sign-off", fields)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"{place}?version=1")
    assert "awaits sign-off" not in (await look(api, place)).text
    seen_by(CONSUMER)
    await look(api, place)


async def test_versions_that_await_their_sign_off_are_not_listed_to_others(api, database_url, seen_by):
    head = await publish(api, example_entry(visibility="all"))
    async with tenants_of(database_url) as tenants:
        await tenants.set_policy("default", TenantPolicy(demands_sign_off=True))
    document = example_entry(visibility="all", title="Second")
    path, place = f"/v1/entries/{head['id']}", f"/entries/{head['id']}"
    assert (await api.put(path, json=document, headers={"If-Match": "*"}, params=ACCEPTED)).status_code == 200
    assert f"{place}?version=2" in (await look(api, place)).links
    seen_by(CONSUMER)
    page = await look(api, place)
    assert f"{place}?version=2" not in page.links
    assert "not the latest" not in page.text
    await look(api, f"{place}?version=2", 404)
