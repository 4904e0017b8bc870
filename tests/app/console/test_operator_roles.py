"""Who may open which of the operator's pages, and what an administrator may do to others' tenants: nothing."""

from app.platform.callers import Role
from tests.app.console.html import Html
from tests.console import browsing, csrf_in
from tests.service import create_key, prefix_of

OWN, OTHERS = "/operator/tenant?name=own", "/operator/tenant?name=other"

#: Pages by the roles of the tenant `own` that may open them; the others are refused.
PAGES = {
    "/operator": {Role.ADMINISTRATOR, Role.OPERATOR},
    "/operator/health": {Role.ADMINISTRATOR, Role.OPERATOR},
    "/operator/tenants": {Role.ADMINISTRATOR, Role.OPERATOR},
    OWN: {Role.ADMINISTRATOR, Role.OPERATOR},
    OTHERS: {Role.OPERATOR},
    "/operator/keys": {Role.ADMINISTRATOR, Role.OPERATOR},
    "/operator/keys?tenant=other": {Role.OPERATOR},
    "/operator/keys/new": {Role.ADMINISTRATOR, Role.OPERATOR},
    "/operator/keys/new?tenant=other": {Role.OPERATOR},
    "/operator/settings": {Role.ADMINISTRATOR, Role.OPERATOR},
    "/operator/audit": {Role.OPERATOR},
    "/operator/audit/check": {Role.OPERATOR},
    "/operator/questions": {Role.OPERATOR},
}


async def test_each_role_opens_its_pages_and_no_others(database_url):
    other = await create_key(database_url, "other", "provider")
    about_other = f"/operator/keys/{prefix_of(other['Authorization'].split()[1])}"
    keys = {role: await create_key(database_url, "own", role) for role in Role}
    async with browsing(database_url) as first:
        assert (await first.get("/operator")).headers["Location"].startswith("/sign-in")
        for role in Role:
            browser = first.another()
            await browser.sign_in(keys[role])
            statuses = {path: (await browser.get(path)).status_code for path in PAGES}
            assert statuses == {path: 200 if role in roles else 403 for path, roles in PAGES.items()}
            seen = (await browser.get(about_other)).status_code
            assert seen == {Role.OPERATOR: 200, Role.ADMINISTRATOR: 404}.get(role, 403)
            links = Html((await browser.get("/")).text).links
            assert ("/operator" in links) == (200 in statuses.values())


async def test_an_administrator_changes_nothing_of_others_and_creates_no_operator(database_url):
    key, other = (
        await create_key(database_url, "own", "administrator"),
        await create_key(database_url, "other", "operator"),
    )
    others_key = prefix_of(other["Authorization"].split()[1])
    once = "a" * 32
    async with browsing(database_url) as browser:
        await browser.sign_in(key)
        form = await browser.get("/operator/keys/new")
        assert "role-operator" not in form.text
        csrf = csrf_in(form)
        asked = [
            ("/operator/tenant/policy", {"tenant": "other", "k": "2"}),
            ("/operator/tenant/quota", {"tenant": "own", "entries": "2"}),
            ("/operator/keys", {"tenant": "other", "role": "provider", "once": once}),
            ("/operator/keys", {"tenant": "own", "role": "operator", "once": once}),
            (f"/operator/keys/{others_key}/successor", {"once": once}),
            (f"/operator/keys/{others_key}/revoke", {}),
        ]
        statuses = [(await browser.post(path, csrf=csrf, **fields)).status_code for path, fields in asked]
        assert statuses == [403, 403, 403, 403, 404, 404]
        assert (await browser.post("/operator/keys", tenant="own", role="provider", once=once)).status_code == 403
        made = await browser.post("/operator/keys", csrf=csrf, tenant="own", role="provider", once=once)
        assert made.status_code == 201
        await browser.sign_in(other)
        assert "key.revoke" not in (await browser.get("/operator/audit")).text


async def test_whoever_revokes_the_own_key_is_told_so_and_signed_out(database_url):
    key = await create_key(database_url, "own", "administrator")
    place = f"/operator/keys/{prefix_of(key['Authorization'].split()[1])}/revoke"
    async with browsing(database_url) as browser:
        await browser.sign_in(key)
        page = await browser.get(place)
        assert "you will be signed out" in page.text
        answer = await browser.post(place, csrf=csrf_in(page))
        assert answer.status_code == 303
        assert (await browser.get(answer.headers["Location"])).headers["Location"].startswith("/sign-in")
