"""People sign in to the console at a real issuer, in a browser that goes there and comes back."""

import time
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

import httpx
import psycopg
import pytest

from tests.console import ORIGIN, browsing, set_cookies
from tests.issuer import running_issuer
from tests.service import create_key

SESSION, PENDING = "__Host-aegis_session", "__Host-aegis_sign_in"


@pytest.fixture(scope="module")
def shared_issuer():
    with running_issuer() as issuer:
        yield issuer


@pytest.fixture
def issuer(shared_issuer):
    yield shared_issuer
    shared_issuer.is_down = False
    for changed in (shared_issuer.signed_in, shared_issuer.identified):
        changed.clear()


@pytest.fixture(scope="module")
async def shared_browser(_one_loop, shared_database_url, shared_issuer):
    settings = {"oidc_issuer": shared_issuer.url, "oidc_client_id": "console", "console_origin": ORIGIN}
    async with browsing(shared_database_url, wrong_keys=3, **settings) as browser:
        yield browser


@pytest.fixture
async def browser(shared_browser):
    """A browser in which nobody is signed in."""
    return shared_browser.another()


async def at_issuer(browser, path="/"):
    """Begin to sign in, sign in at the issuer, and return where it sends the browser back to."""
    sent = await browser.client.get("/sign-in/oidc", params={"next": path})
    assert sent.status_code == 303, sent.text
    async with httpx.AsyncClient(verify=False) as elsewhere:
        back = await elsewhere.get(sent.headers["Location"])
    assert back.headers["Location"].startswith(f"{ORIGIN}/sign-in/callback?")
    return back.headers["Location"].removeprefix(ORIGIN)


async def is_signed_in(browser):
    return (await browser.get("/session")).status_code == 200


async def test_people_sign_in_at_their_organisation_and_go_on_where_they_were(browser, issuer, shared_database_url):
    end = int(time.time()) + 600
    issuer.signed_in |= {"sub": "bob", "scope": "aegis:provide aegis:review", "exp": end}
    form = await browser.get("/sign-in?next=/glossary?a=b")
    assert 'href="/sign-in/oidc?next=%2Fglossary%3Fa%3Db"' in form.text
    answer = await browser.get(await at_issuer(browser, "/glossary?a=b"))
    assert (answer.status_code, answer.headers["Location"]) == (303, "/glossary?a=b")
    assert set_cookies(answer)[SESSION] == {"HttpOnly", "Path=/", "SameSite=lax", "Secure"}
    assert set(browser.cookies) == {SESSION}
    page = (await browser.get("/session")).text
    assert all(told in page for told in ("bob", "acme", "provider, reviewer", issuer.url))
    assert f"{datetime.fromtimestamp(end, UTC):%Y-%m-%d %H:%M} UTC" in page
    with psycopg.connect(shared_database_url) as connection:
        stored = str(connection.execute("SELECT s::text FROM console_session AS s").fetchall())
    assert "bob" in stored
    assert "eyJ" not in stored


async def test_what_is_kept_until_the_browser_comes_back_is_kept_for_minutes_and_from_scripts(browser):
    answer = await browser.get("/sign-in/oidc?next=/requests")
    assert set_cookies(answer) == {PENDING: {"HttpOnly", "Path=/", "SameSite=lax", "Secure", "Max-Age=600"}}
    secret = browser.cookies[PENDING].partition(".")[0]
    assert secret not in answer.headers["Location"]


async def test_nobody_is_signed_in_as_somebody_else_by_a_link(browser):
    attacker = browser.another()
    link = await at_issuer(attacker)
    for victim in (browser.another(), browser):
        await browser.get("/sign-in/oidc")  # the second one has begun to sign in, too
        answer = await victim.get(link)
        assert (answer.status_code, SESSION in victim.cookies) == (401, False)
        assert "began in another browser" in answer.text
    assert (await attacker.get(link)).status_code == 303


async def test_an_answer_of_the_issuer_signs_in_once(browser):
    place = await at_issuer(browser)
    pending = browser.cookies[PENDING]
    await browser.get(place)
    thief = browser.another()
    assert (await thief.get(place)).status_code == 401
    thief.client.cookies.set(PENDING, pending, domain="aegis.example.org")
    answer = await thief.get(place)
    assert (answer.status_code, SESSION in thief.cookies) == (401, False)
    assert "no longer accepts this sign-in" in answer.text


async def test_a_token_of_another_sign_in_is_refused(browser, issuer):
    issuer.identified["nonce"] = "another"
    answer = await browser.get(await at_issuer(browser, "/glossary"))
    assert (answer.status_code, browser.cookies) == (401, {})
    assert "from another sign-in (nonce)" in answer.text
    assert 'next=%2Fglossary"' in answer.text  # the way to try again


async def test_whoever_has_no_role_here_is_told(browser, issuer):
    issuer.signed_in["scope"] = "openid"
    answer = await browser.get(await at_issuer(browser))
    assert (answer.status_code, browser.cookies) == (403, {})
    assert "This token gives no role" in answer.text


async def test_whoever_changes_their_mind_is_told(browser):
    query = dict(parse_qsl(urlsplit(await at_issuer(browser)).query))
    answer = await browser.client.get(
        "/sign-in/callback", params={"state": query["state"], "error": "access_denied", "error_description": "<b>"}
    )
    assert answer.status_code == 401
    assert "did not sign you in (access_denied)" in answer.text
    assert "<b>" not in answer.text


@pytest.mark.parametrize("path", ["https://evil.example", "//evil.example", "/\\evil.example", "/\t/evil.example"])
async def test_signing_in_at_the_issuer_leads_nowhere_else(browser, path):
    answer = await browser.get(await at_issuer(browser, path))
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")


async def test_where_to_go_is_not_taken_from_a_cookie_that_was_changed(browser):
    place = await at_issuer(browser, "/glossary")
    changed = browser.cookies[PENDING].replace("/glossary", "//evil.example")
    browser.client.cookies.set(PENDING, changed, domain="aegis.example.org")
    answer = await browser.get(place)
    assert (answer.status_code, "evil.example" in answer.text) == (401, False)


async def test_codes_are_guessed_as_seldom_as_keys_and_other_pages_lock_nobody_out(browser, issuer):
    for _ in range(5):  # as an image in a page of somebody else would
        assert (await browser.get("/sign-in/callback?state=x&code=y")).status_code == 401
    statuses, before = [], len(issuer.exchanges)
    for _ in range(4):
        state = dict(parse_qsl(urlsplit(await at_issuer(browser)).query))["state"]
        statuses.append((await browser.get(f"/sign-in/callback?state={state}&code=guessed")).status_code)
    assert statuses == [401, 401, 401, 429]
    assert len(issuer.exchanges) - before == 3


async def test_keys_still_sign_in_beside_an_issuer_that_is_away(shared_database_url, issuer):
    key = await create_key(shared_database_url, "clinic", "provider")
    settings = {"oidc_issuer": issuer.url, "oidc_client_id": "console", "console_origin": ORIGIN}
    issuer.is_down = True
    async with browsing(shared_database_url, **settings) as browser:
        away = await browser.get("/sign-in/oidc")
        assert (away.status_code, browser.cookies) == (503, {})
        assert "The issuer of tokens does not respond" in away.text
        assert (await browser.sign_in(key)).status_code == 303
        assert await is_signed_in(browser)


async def test_a_service_without_a_client_signs_in_by_keys_alone(shared_database_url, issuer):
    async with browsing(shared_database_url, oidc_issuer=issuer.url) as browser:
        assert "/sign-in/oidc" not in (await browser.get("/sign-in")).text
        for path in ("/sign-in/oidc", "/sign-in/callback?state=x&code=y"):
            assert (await browser.get(path)).status_code == 404


async def test_sessions_end_when_the_issuer_is_not_trusted_any_more(browser, shared_database_url):
    await browser.get(await at_issuer(browser))
    assert await is_signed_in(browser)
    await create_key(shared_database_url, "clinic", "provider")
    async with browsing(shared_database_url) as later:
        later.client.cookies = browser.client.cookies
        assert not await is_signed_in(later)
