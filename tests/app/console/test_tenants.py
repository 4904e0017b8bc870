"""Tenants in the console: what they ask, and may use, read and changed."""

import pytest

from tests.console import form_of, send, text_of
from tests.service import tenants_of

PLACE = "/operator/tenant"
POLICY, QUOTA = f"{PLACE}/policy", f"{PLACE}/quota"

STRANGE = "<script>alert(1)</script> ../אבג & 'x' \"y\" 😀"


async def tenant(api, name="hospital"):
    answer = await api.get(PLACE, params={"name": name})
    assert answer.status_code == 200
    return answer


async def test_a_policy_is_read_and_set(api, database_url):
    answer = await send(api, await tenant(api), POLICY, k="10", t="0,2", sign_off="on")
    assert answer.status_code == 303
    page = await api.get(answer.headers["location"])
    assert "The policy is set" in text_of(page)
    form = form_of(page, POLICY)
    assert (form["k"], form["t"], form["l"]) == ("10", "0.2", "")
    async with tenants_of(database_url) as tenants:
        policy = await tenants.policy("hospital")
    assert (str(policy), policy.demands_sign_off) == ("k=10,t=0.2, sign-off", True)
    assert "--require k=10,t=0.2 --sign-off" in text_of(page)


async def test_a_quota_is_read_and_set_and_empty_fields_are_as_usual(api):
    await send(api, await tenant(api), QUOTA, entries="5", advice="7")
    form = form_of(await tenant(api), QUOTA)
    assert (form["entries"], form["advice"], form["bytes"]) == ("5", "7", "")
    body = (await api.get("/v1/quota", params={"tenant": "hospital"})).json()
    assert (body["limits"]["entries"], body["limits"]["advice"]) == (5, 7)


@pytest.mark.parametrize(
    ("action", "name", "text"),
    [(POLICY, "k", "many"), (POLICY, "t", "nan"), (QUOTA, "jobs", "0"), (QUOTA, "bytes", "1.5")],
)
async def test_wrong_numbers_stay_in_their_fields_with_what_is_wrong(api, action, name, text):
    answer = await send(api, await tenant(api), action, **{name: text})
    assert answer.status_code == 422
    assert form_of(answer, action)[name] == text
    assert 'aria-invalid="true"' in answer.text


async def test_names_can_have_any_characters(api):
    assert "Nothing is known of this tenant" in text_of(await tenant(api, STRANGE))
    await send(api, await tenant(api, STRANGE), POLICY, k="3")
    listing = await api.get("/operator/tenants")
    assert "<script>alert" not in listing.text
    assert STRANGE in text_of(listing)
    assert "k=3" in text_of(listing)


async def test_the_page_of_a_tenant_lists_its_webhooks_and_keys(api):
    await api.post("/v1/webhooks", json={"tenant": "hospital", "url": "https://a.example/<b>", "events": ["ping"]})
    await api.post("/v1/keys", json={"tenant": "hospital", "role": "reviewer"})
    text = text_of(await tenant(api))
    assert "https://a.example/<b>" in text
    assert "reviewer valid" in text


async def test_tenants_are_paged_by_name(api, database_url, monkeypatch):
    monkeypatch.setattr("app.console.routes.tenants.PER_PAGE", 2)
    for name in ("a", "b/c", "d"):
        await send(api, await tenant(api, name), QUOTA)
    first = await api.get("/operator/tenants")
    assert "d" not in [word for word in text_of(first).split() if len(word) == 1]
    second = await api.get("/operator/tenants", params={"after": "b/c"})
    assert "/operator/tenants?after=b%2Fc" in first.text
    assert 'href="/operator/tenant?name=d"' in second.text
