"""Signing in with a key, staying signed in, and signing out, on the real application and PostgreSQL."""

import re
from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import psycopg
import pytest

from app.platform.callers import MOST_SESSIONS
from tests.app.console.signing_in import is_signed_in, leads_to, text_of
from tests.console import ORIGIN, browsing, set_cookies
from tests.service import create_key, example_entry, keyring_of, prefix_of, publish, running_app

SESSION = "__Host-aegis_session"
LOOPBACK = "http://127.0.0.1:8000"


@pytest.fixture
async def key(database_url):
    """A provider's key of the tenant `clinic`."""
    return await create_key(database_url, "clinic", "provider")


@pytest.fixture
async def browser(database_url, key):  # noqa: ARG001 -- there must be a key
    """A browser in which nobody is signed in."""
    async with browsing(database_url) as browser:
        yield browser


def execute(database_url, statement, *values):
    with psycopg.connect(database_url, autocommit=True) as connection:
        rows = connection.execute(statement, values)
        return rows.fetchall() if rows.description else []


async def test_a_key_signs_its_holder_in_and_leads_back(browser, key):
    sent = leads_to(await browser.get("/?query=a+b&label=x"))
    assert sent == "/sign-in?next=%2F%3Fquery%3Da%2Bb%26label%3Dx"
    form = await browser.get(sent)
    assert re.search(r'type="password" autocomplete="current-password"', form.text)
    [path] = re.findall(r'name="next" value="([^"]*)"', form.text)
    assert path == "/?query=a+b&amp;label=x"
    assert leads_to(await browser.sign_in(key, "/?query=a+b&label=x")) == "/?query=a+b&label=x"
    page = await browser.get("/session")
    assert (page.status_code, prefix_of(text_of(key)) in page.text, "clinic" in page.text) == (200, True, True)
    assert text_of(key) not in page.text


async def test_what_is_shown_is_what_the_holder_may_see(browser, database_url, key):
    other = await create_key(database_url, "rival", "provider")
    async with running_app(database_url) as api:
        await publish(api, example_entry(name="mine", title="Own table"), **key)
        await publish(api, example_entry(name="theirs", title="Other table"), **other)
    await browser.sign_in(key)
    page = (await browser.get("/")).text
    assert ("Own table" in page, "Other table" in page) == (True, False)


@pytest.mark.parametrize(
    ("given", "told"),
    [("", "unknown, expired or revoked"), ("aegis_00000000_x", "unknown, expired or revoked"), ("<b>", "unknown")],
    ids=["none", "unknown", "markup"],
)
async def test_a_wrong_key_is_refused_in_the_words_of_the_api(browser, given, told):
    answer = await browser.post("/sign-in", key=given, next="/glossary")
    assert answer.status_code == 401
    assert told in answer.text
    assert 'role="alert"' in answer.text
    assert 'name="next" value="/glossary"' in answer.text
    assert "<b>" not in answer.text
    assert set_cookies(answer) == {}


async def test_expired_and_revoked_keys_sign_nobody_in(browser, database_url):
    expired = await create_key(database_url, "clinic", "provider", -timedelta(seconds=1))
    revoked = await create_key(database_url, "clinic", "provider", revoked=True)
    for key in (expired, revoked):
        assert (await browser.sign_in(key)).status_code == 401


async def test_the_cookie_is_out_of_reach_of_scripts_other_hosts_and_plain_http(browser, key):
    answer = await browser.sign_in(key)
    assert set_cookies(answer) == {SESSION: {"HttpOnly", "Path=/", "SameSite=lax", "Secure"}}
    assert len(browser.cookies[SESSION]) == 43


async def test_on_the_own_machine_no_tls_is_needed(browser, key):
    local = browser.another(LOOPBACK)
    answer = await local.sign_in(key)
    assert set_cookies(answer) == {"aegis_session": {"HttpOnly", "Path=/", "SameSite=lax"}}
    assert await is_signed_in(local)


async def test_nobody_signs_in_without_tls_from_elsewhere(browser, key):
    plain = browser.another("http://aegis.example.org")
    form = await plain.get("/sign-in")
    assert "AEGIS_TRUSTED_PROXIES" in form.text
    assert "<input" not in form.text
    refused = await plain.sign_in(key)
    assert (refused.status_code, set_cookies(refused)) == (403, {})
    assert "without TLS" in refused.text


async def test_each_sign_in_has_a_new_token_and_ends_the_old_session_of_the_browser(browser, key):
    await browser.sign_in(key)
    first = browser.cookies[SESSION]
    await browser.sign_in(key)
    assert browser.cookies[SESSION] != first
    assert await is_signed_in(browser)
    browser.client.cookies.set(SESSION, first, domain="aegis.example.org")
    assert not await is_signed_in(browser)


async def test_a_token_from_outside_is_never_taken_over(browser, key):
    planted = "p" * 43
    browser.client.cookies.set(SESSION, planted, domain="aegis.example.org")
    answer = await browser.sign_in(key)
    assert planted not in answer.headers["Set-Cookie"]
    thief = browser.another()
    thief.client.cookies.set(SESSION, planted, domain="aegis.example.org")
    assert not await is_signed_in(thief)


async def test_signing_out_ends_the_session_and_not_only_the_cookie(browser, database_url, key):
    await browser.sign_in(key)
    stolen = browser.cookies[SESSION]
    answer = await browser.send("/sign-out")
    assert leads_to(answer) == "/sign-in"
    assert set_cookies(answer)[SESSION] >= {"Max-Age=0", "Secure", "HttpOnly", "Path=/"}
    assert browser.cookies == {}
    browser.client.cookies.set(SESSION, stolen, domain="aegis.example.org")
    assert not await is_signed_in(browser)
    assert execute(database_url, "SELECT * FROM console_session") == []


async def test_signing_out_here_leaves_other_browsers_and_everywhere_does_not(browser, key):
    second, third = browser.another(), browser.another()
    for one in (browser, second, third):
        await one.sign_in(key)
    await browser.send("/sign-out")
    assert [await is_signed_in(one) for one in (browser, second, third)] == [False, True, True]
    await second.send("/sign-out", everywhere="yes")
    assert [await is_signed_in(one) for one in (second, third)] == [False, False]


@pytest.mark.parametrize(
    ("referer", "path"),
    [
        (f"{ORIGIN}/requests/new?entry=a&k=5", "/requests/new?entry=a&k=5"),
        (f"{ORIGIN}/publish/confirm", "/"),  # which no link opens
        ("https://evil.example//evil.example", "/"),
        ("https://[", "/"),
        ("", "/"),
    ],
)
async def test_a_form_that_comes_too_late_leads_back_to_its_page_and_says_that_nothing_was_sent(browser, referer, path):
    answer = await browser.post("/requests/new", {"Referer": referer}, purpose="A study")
    place = leads_to(answer)
    assert dict(parse_qsl(urlsplit(place).query)) == {"next": path, "unsent": "yes"}
    assert "nothing was sent" in (await browser.get(place)).text


async def test_a_session_ends_at_once_with_its_key(browser, database_url, key):
    await browser.sign_in(key)
    async with keyring_of(database_url) as keyring:
        await keyring.revoke(prefix_of(text_of(key)))
    assert not await is_signed_in(browser)


async def test_a_session_ends_in_time_and_with_the_overlap_of_a_replaced_key(browser, database_url, key):
    for statement in ("UPDATE console_session SET expires_at = now()", "UPDATE api_key SET expires_at = now()"):
        await browser.sign_in(key)
        assert await is_signed_in(browser)
        execute(database_url, statement)
        assert not await is_signed_in(browser)


async def test_a_key_that_ends_soon_is_announced(browser, database_url, key):
    await browser.sign_in(key)
    assert "Your key expires on" not in (await browser.get("/session")).text
    await browser.sign_in(await create_key(database_url, "clinic", "provider", timedelta(days=2)))
    assert "Your key expires on" in (await browser.get("/session")).text


async def test_the_cookie_is_no_key_of_the_api(browser, key):
    await browser.sign_in(key)
    for headers in ({}, {"Authorization": f"Bearer {browser.cookies[SESSION]}"}):
        answer = await browser.client.get("/v1/entries", headers=headers | {"Accept": "application/json"})
        assert answer.status_code == 401


async def test_addresses_that_guess_are_locked_out_as_in_the_api(database_url, key):
    async with browsing(database_url, wrong_keys=3) as browser:
        await browser.sign_in(key)
        known = browser.another()
        refused = [await known.post("/sign-in", key=f"aegis_00000000_{number}") for number in range(4)]
        assert [one.status_code for one in refused] == [401, 401, 401, 429]
        assert int(refused[-1].headers["Retry-After"]) > 0
        assert "Too many wrong keys" in refused[-1].text
        api = await known.client.get("/v1/entries", headers={"Authorization": "Bearer aegis_00000000_y"})
        assert api.status_code == 429
        assert leads_to(await known.sign_in(key)) == "/"  # this one is known to be right
        other = await create_key(database_url, "clinic", "provider")
        assert (await known.sign_in(other)).status_code == 429
        assert await is_signed_in(browser)


async def test_pages_count_as_requests_of_the_tenant(database_url, key):
    async with browsing(database_url, rate_limit=3) as browser:
        await browser.sign_in(key)
        statuses = [(await browser.get("/session")).status_code for _ in range(3)]
        api = await browser.client.get("/v1/entries", headers=key)
        refused = await browser.another().sign_in(key)
    assert statuses == [200, 200, 429]
    assert (api.status_code, refused.status_code) == (429, 429)
    assert execute(database_url, "SELECT count(*) FROM console_session") == [(1,)]


async def test_sessions_of_a_key_are_bounded(browser, key):
    await browser.sign_in(key)
    for _ in range(MOST_SESSIONS):
        await browser.another().sign_in(key)
    assert not await is_signed_in(browser)


async def test_where_the_console_is_can_be_set(database_url, key):
    async with browsing(database_url, "http://aegis.example.org", console_origin=ORIGIN) as browser:
        # a proxy that speaks TLS, of which the service is not told
        answer = await browser.post("/sign-in", {"Origin": ORIGIN}, key=text_of(key))
        assert set_cookies(answer) == {SESSION: {"HttpOnly", "Path=/", "SameSite=lax", "Secure"}}
        for headers in ({"Origin": "http://aegis.example.org"}, {"Origin": ORIGIN, "Host": "10.0.0.1:8000"}):
            refused = await browser.post("/sign-in", headers, key=text_of(key))
            assert (refused.status_code, set_cookies(refused)) == (403, {})
            assert ORIGIN in refused.text


async def test_in_development_mode_nobody_signs_in_and_other_pages_are_refused(database_url):
    async with browsing(database_url, LOOPBACK) as browser:
        assert leads_to(await browser.get("/sign-in?next=/glossary")) == "/glossary"
        page = await browser.get("/session")
        assert "Development mode" in page.text
        assert browser.cookies == {}
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:3000"}):
            assert (await browser.post("/sign-out", headers)).status_code == 403
        assert leads_to(await browser.post("/sign-out")) == "/sign-in"
        rebound = browser.another("http://evil.example:8000")
        assert (await rebound.post("/sign-out")).status_code == 403
        assert (await rebound.get("/")).status_code == 403


async def test_who_signs_in_is_logged_without_keys_and_tokens(browser, key, caplog):
    caplog.set_level("INFO")
    await browser.sign_in(key)
    told = [record for record in caplog.records if record.message == "signed in"]
    assert [record.by for record in told] == [prefix_of(text_of(key))]
    everything = "".join(str(record.__dict__) for record in caplog.records)
    assert text_of(key) not in everything
    assert browser.cookies[SESSION] not in everything
