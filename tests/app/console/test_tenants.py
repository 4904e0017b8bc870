"""Tenants in the console: what they ask, and may use, read and changed."""

from urllib.parse import urlencode

import pytest

from tests.app.console.html import Html, form_of, look, send_form
from tests.service import tenants_of

PLACE = "/operator/tenant"
POLICY, QUOTA = f"{PLACE}/policy", f"{PLACE}/quota"

STRANGE = "<script>alert(1)</script> ../אבג & 'x' \"y\" 😀"


async def tenant(api, name="hospital"):
    return await look(api, f"{PLACE}?{urlencode({'name': name})}")


async def test_a_policy_is_read_and_set(api, database_url):
    answer = await send_form(api, await tenant(api), POLICY, k="10", t="0.2", unit="on", sign_off="on")
    assert answer.status_code == 303
    page = await look(api, answer.headers["location"])
    assert "The policy is set" in page.text
    form = form_of(page, POLICY)
    assert (form["k"], form["t"], form["l"]) == ("10", "0.2", "")
    async with tenants_of(database_url) as tenants:
        policy = await tenants.tenants.policy("hospital")
    assert (str(policy), policy.demands_sign_off) == ("k=10,t=0.2,unit=person, sign-off", True)
    assert "--require k=10,t=0.2,unit=person --sign-off" in page.text


async def test_a_quota_is_read_and_set_and_empty_fields_are_as_usual(api):
    await send_form(api, await tenant(api), QUOTA, entries="5", advice="7")
    form = form_of(await tenant(api), QUOTA)
    assert (form["entries"], form["advice"], form["bytes"]) == ("5", "7", "")
    body = (await api.get("/v1/quota", params={"tenant": "hospital"})).json()
    assert (body["limits"]["entries"], body["limits"]["advice"]) == (5, 7)


@pytest.mark.parametrize(
    ("action", "name", "text"),
    [(POLICY, "k", "many"), (POLICY, "t", "nan"), (QUOTA, "jobs", "0"), (QUOTA, "bytes", "1.5")],
)
async def test_wrong_numbers_stay_in_their_fields_with_what_is_wrong(api, action, name, text):
    answer = await send_form(api, await tenant(api), action, **{name: text})
    assert answer.status_code == 422
    page = Html(answer.text)
    assert form_of(page, action)[name] == text
    assert [one["name"] for one in page.all("input") if one.get("aria-invalid")] == [name]


async def test_names_can_have_any_characters(api):
    assert "This tenant may not exist yet" in (await tenant(api, STRANGE)).text
    await send_form(api, await tenant(api, STRANGE), POLICY, k="3")
    listing = await look(api, "/operator/tenants")
    assert STRANGE in listing.text
    assert "k=3" in listing.text
    assert f"{PLACE}?{urlencode({'name': STRANGE})}" in listing.links


async def test_the_page_of_a_tenant_lists_its_webhooks_and_keys(api):
    hook = {"tenant": "hospital", "url": "https://a.example/hook", "events": ["entry.published"]}
    assert (await api.post("/v1/webhooks", json=hook)).status_code == 201
    await api.post("/v1/keys", json={"tenant": "hospital", "role": "reviewer"})
    text = (await tenant(api)).text
    assert "https://a.example/hook" in text
    assert "reviewer valid" in text


async def test_tenants_are_paged_by_name(api, monkeypatch):
    monkeypatch.setattr("app.console.tenants.PER_PAGE", 2)
    for name in ("a", "b/c", "d"):
        await send_form(api, await tenant(api, name), QUOTA)
    first = await look(api, "/operator/tenants")
    assert f"{PLACE}?name=d" not in first.links
    (following,) = [link for link in first.links if link and "after=" in link]
    assert f"{PLACE}?name=d" in (await look(api, following)).links
    await look(api, "/operator/tenants?after=%00", 422)
