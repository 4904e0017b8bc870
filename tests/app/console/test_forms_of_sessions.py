"""Forms come from pages of their own session, and signing in leads to own pages only."""

from itertools import product

import pytest

from tests.app.console.signing_in import is_signed_in, leads_to, text_of
from tests.console import ORIGIN, browsing, csrf_in, set_cookies
from tests.service import create_key

SESSION = "__Host-aegis_session"
LOOPBACK = "http://127.0.0.1:8000"


@pytest.fixture(scope="module")
async def shared_console(_one_loop, shared_database_url):
    key = await create_key(shared_database_url, "clinic", "provider")
    async with browsing(shared_database_url) as browser:
        yield browser, key


FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://aegis.example.org"},
    {"Origin": "https://aegis.example.org:8443"},
    {"Origin": "https://aegis.example.org.evil.example"},
    {"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"},
    {"Origin": "", "Sec-Fetch-Site": "same-origin"},
    {"Origin": None, "Sec-Fetch-Site": "cross-site"},
    {"Origin": None, "Sec-Fetch-Site": "same-site"},
    {"Origin": None, "Sec-Fetch-Site": "none"},
    {"Origin": None},
]


async def test_forms_of_other_pages_are_refused_before_anything_else(shared_console):
    browser, key = shared_console
    other = browser.another()
    assert (await other.sign_in(key)).status_code == 303
    token = csrf_in(await other.get("/session"))
    forms = (("/sign-in", {"key": text_of(key)}), ("/sign-out", {"csrf": token}))
    for headers, (path, fields) in product(FOREIGN, forms):
        request = other.client.build_request("POST", path, data=fields)
        request.headers.update({name: value for name, value in headers.items() if value is not None})
        answer = await other.client.send(request)
        assert (answer.status_code, set_cookies(answer)) == (403, {}), headers
        assert f"must come from a page of {ORIGIN}" in answer.text, headers
        assert await is_signed_in(other), headers


async def test_a_browser_that_sends_no_origin_says_that_the_page_is_the_own(shared_console):
    browser, key = shared_console
    fields, headers = {"key": text_of(key)}, {"Sec-Fetch-Site": "same-origin"}
    answer = await browser.another().client.post("/sign-in", data=fields, headers=headers)
    assert leads_to(answer) == "/"


async def test_pages_let_browsers_say_where_forms_come_from(shared_console):
    browser, _ = shared_console
    assert (await browser.get("/sign-in")).headers["Referrer-Policy"] == "same-origin"


async def test_a_form_without_a_token_of_its_session_changes_nothing(shared_console):
    browser, key = shared_console
    mine, other = browser.another(), browser.another()
    await mine.sign_in(key)
    await other.sign_in(key)
    foreign = csrf_in(await other.get("/session"))
    for csrf in ("", "x", foreign, csrf_in(await mine.get("/session"))[:-1], mine.cookies[SESSION]):
        answer = await mine.post("/sign-out", csrf=csrf)
        assert answer.status_code == 403
        assert "This form has expired" in answer.text
    assert (await mine.post("/sign-out")).status_code == 403
    assert await is_signed_in(mine)


async def test_no_two_pages_have_the_same_token_in_their_forms(shared_console):
    browser, key = shared_console
    mine = browser.another()
    await mine.sign_in(key)
    tokens = {csrf_in(await mine.get("/session")) for _ in range(3)}
    assert len(tokens) == 3
    assert leads_to(await mine.post("/sign-out", csrf=tokens.pop())) == "/sign-in"


async def test_a_form_from_before_another_sign_in_is_too_old(shared_console):
    browser, key = shared_console
    mine = browser.another()
    await mine.sign_in(key)
    old = csrf_in(await mine.get("/session"))
    await mine.sign_in(key)
    assert (await mine.post("/sign-out", csrf=old)).status_code == 403


NO_HOSTS = ["[", "", "[::1", "a b", "[x]", "\xff", "aegis.example.org:99999999"]


async def test_a_header_host_that_names_no_host_is_refused(shared_console):
    browser, key = shared_console
    for host in NO_HOSTS:
        headers = {"Host": host.encode("latin-1")}
        answers = [await browser.client.get(path, headers=headers) for path in ("/sign-in", "/session", "/")]
        answers.append(await browser.client.post("/sign-in", data={"key": text_of(key)}, headers=headers))
        assert all(answer.status_code < 500 for answer in answers), host
        assert answers[-1].status_code in {400, 403}, host


ELSEWHERE = [
    *("https://evil.example", "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example"),
    *("/\t/evil.example", "/\n/evil.example", "\t//evil.example", "/\x00", " //evil.example", "evil.example"),
    *("javascript:alert(1)", "", "/ä", "/" + "x" * 3000, "/a\r\nSet-Cookie: a=b"),
]


async def test_signing_in_leads_nowhere_else(shared_console):
    browser, key = shared_console
    told = {}
    for path in ELSEWHERE:
        form = await browser.client.get("/sign-in", params={"next": path})
        told[path] = leads_to(await browser.another().sign_in(key, path)), 'name="next" value="/"' in form.text
    assert told == dict.fromkeys(ELSEWHERE, ("/", True))
