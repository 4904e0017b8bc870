"""What holds for every route of the console, walked by its registry: a new route is tested without being named here."""

import re
from collections.abc import Iterator
from importlib.metadata import version

import httpx
import psycopg
import pytest
from psycopg import sql

from app.pages.page import HEADERS, TYPES
from tests.app.console.stage import Stage, routes, stage_with_keys
from tests.app.console.test_pages import STATIC, UNKNOWN
from tests.console import SESSION
from tests.for_each import case
from tests.postgres import SERVICE, as_role, create_database, drop_database
from tests.service import create_key

ROUTES = routes()
PAGES = [route for route in ROUTES if route.startswith("GET ") and "/static/" not in route]
#: But for parts that scripts load, files, and ways to somewhere else.
WHOLE_PAGES = [page for page in PAGES if not re.search(r"/(progress|now|health|oidc|callback|receipt)$", page)]
#: Routes that change something, but for the one that begins sessions.
CHANGES = [route for route in ROUTES if route.startswith("POST ") and route != "POST /sign-in"]

UNKNOWN_KEY = "aegis_00000000"
_IDS = {r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b": UNKNOWN, r"\baegis_[0-9a-f]{8}\b": UNKNOWN_KEY}

#: Where else people could guess: parameters and fields that name something of a tenant.
GUESSED = [
    "GET /entries/{entry_id}?version=1",
    "GET /entries/{entry_id}/ask?version=1",
    "GET /requests/new?entry={entry_id}",
    "GET /requests/new?entry={entry_id}&version=1",
    "GET /requests/new?advice={advice_id}",
    "GET /requests?entry={entry_id}",
    "GET /publish?version_of={entry_id}",
    "GET /operator/tenant?name={tenant}",
    "GET /operator/keys?tenant={tenant}",
    "GET /operator/keys?page_token={prefix}",
    "GET /operator/keys/new?tenant={tenant}",
    "GET /operator/tenants?after={tenant}",
    "GET /operator/audit?entry={entry_id}",
    "GET /operator/questions?entry={entry_id}&tenant={tenant}",
    "POST /operator/tenant/policy",
    "POST /operator/tenant/quota",
    "POST /operator/keys",
    "POST /requests/new",
]


@pytest.fixture(name="guarded_url", scope="module")
def _guarded_url(postgres, migrated) -> Iterator[str]:
    yield as_role(create_database(postgres.url, "guarded_routes", template=migrated), SERVICE)
    drop_database(postgres.url, "guarded_routes")


@pytest.fixture(name="stage", scope="module")
async def _stage(_one_loop, guarded_url):
    async with stage_with_keys(guarded_url) as stage:
        yield stage


@pytest.fixture(name="strangers", scope="module")
async def _strangers(stage, guarded_url):
    """Browsers of another tenant that may do everything there."""
    browsers = [stage.nobody.another() for _ in range(2)]
    for browser, role in zip(browsers, ("provider", "administrator"), strict=True):
        assert (await browser.sign_in(await create_key(guarded_url, "stranger", role))).status_code == 303
    return browsers


def unknown(text: str) -> str:
    """The same with ids and names that nothing has."""
    for pattern, other in _IDS.items():
        text = re.sub(pattern, other, text)
    return re.sub(r"=owner\b", "=nobody", text)


def comparable(answer: httpx.Response) -> tuple[int, str, str]:
    """What an answer says, without what is drawn anew for each, and without the ids that were asked for."""
    text = re.sub(r'name="(csrf|once)" value="[^"]*"', "", answer.text)
    text = re.sub(r"request <code>[^<]*</code>", "", text)
    text = re.sub(r'value="(owner|nobody)"', "", text)
    return answer.status_code, answer.headers.get("Location", ""), unknown(text)


async def asked(browser, route: str, path: str, fields: dict[str, str]) -> httpx.Response:
    if route.startswith("GET "):
        return await browser.get(path)
    return await browser.send(path, **fields)


@pytest.mark.long
@pytest.mark.parametrize("route", [one for one in ROUTES if re.search(r"_id}|{prefix}", one)] + GUESSED)
async def test_what_is_another_tenant_s_looks_like_what_does_not_exist(stage: Stage, strangers, route):
    path = await stage.address(route)
    fields = await stage.form(route, path) if route.startswith("POST ") else {}
    others = {name: unknown(text) for name, text in fields.items()} | (
        {"tenant": "nobody"} if "tenant" in fields else {}
    )
    for browser in strangers:
        real, no = await asked(browser, route, path, fields), await asked(browser, route, unknown(path), others)
        assert comparable(real) == comparable(no)
        if re.search(r"{(entry|request)_id}", route):
            assert real.status_code == (200 if route.startswith("GET /requests?") else real.status_code)
            assert real.status_code in {200, 403, 404}
        assert stage.head["name"] not in real.text


async def test_every_page_has_the_lines_that_do_the_same_in_a_terminal_and_ends_with_the_release(stage: Stage):
    told = {}
    for route in WHOLE_PAGES:
        answer = await stage.browser("operator").get(await stage.address(route))
        lines = set(re.findall(r"<code data-copy>(\S+)", answer.text.partition("Do the same in a terminal")[2]))
        is_ended = f"Aegis {version('aegis-masking-server')}</p>\n</footer>" in answer.text
        told[route] = answer.status_code, "curl" in lines, bool(lines & {"aegis", "aegis-server"}), is_ended
    assert told == dict.fromkeys(WHOLE_PAGES, (200, True, True, True))


def stored(url: str) -> dict[str, str]:
    """A hash of every table, without when keys were last used."""
    rows = "SELECT coalesce(md5(string_agg(one, E'\\n' ORDER BY one)), '') FROM"
    own = sql.SQL(rows + " (SELECT (to_jsonb(t) - 'last_used_at')::text AS one FROM {} AS t)")
    with psycopg.connect(url, autocommit=True) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        hashed = {name: connection.execute(own.format(sql.Identifier(name))).fetchone() for (name,) in names}
    return {name: row[0] for name, row in hashed.items() if row is not None}


async def test_what_is_stored_is_seen_to_change(stage: Stage, guarded_url):
    before = stored(guarded_url)
    assert stored(guarded_url) == before
    await stage.new_key()
    assert stored(guarded_url) != before


@pytest.mark.long
@pytest.mark.parametrize("route", CHANGES)
async def test_a_form_changes_nothing_unless_an_own_page_of_the_session_has_sent_it(stage: Stage, guarded_url, route):
    path = await stage.address(route)
    fields = await stage.form(route, path)
    own, foreign = await stage.csrf("operator"), await stage.csrf("provider")
    before = stored(guarded_url)
    for csrf in ("", "x", foreign, own[:-1], own.swapcase(), stage.people["operator"].cookies[SESSION]):
        answer = await stage.send("operator", route, path, fields | {"csrf": csrf})
        assert (answer.status_code, "This form has expired" in answer.text) == (403, True)
    for origin in ("https://evil.example", "null", "http://aegis.example.org", "https://aegis.example.org:444", ""):
        answer = await stage.send("operator", route, path, fields | {"csrf": own}, Origin=origin)
        assert (answer.status_code, "must come from a page of" in answer.text) == (403, True)
    assert stored(guarded_url) == before


@pytest.mark.long
@pytest.mark.parametrize("route", CHANGES)
async def test_a_form_of_a_session_that_has_ended_changes_nothing(stage: Stage, guarded_url, route):
    path = await stage.address(route)
    fields = await stage.form(route, path)
    browser = stage.people["operator"]
    own, token = await stage.csrf("operator"), browser.cookies[SESSION]
    assert (await browser.send("/sign-out")).status_code == 303
    browser.client.cookies.set(SESSION, token, domain="aegis.example.org")
    before = stored(guarded_url)
    answer = await stage.send("operator", route, path, {"csrf": own} | fields)
    assert answer.headers["Location"] == "/sign-in?next=%2F&unsent=yes"
    assert stored(guarded_url) == before
    browser.client.cookies.clear()
    assert (await browser.sign_in(stage.keys["operator"])).status_code == 303


@pytest.mark.long
async def test_the_form_to_sign_in_is_the_only_one_without_a_session_and_takes_no_foreign_origin(stage: Stage):
    path, fields = "/sign-in", await stage.form("POST /sign-in", "/sign-in")
    for origin in ("https://evil.example", "null", ""):
        answer = await stage.send("nobody", "POST /sign-in", path, fields, Origin=origin)
        assert (answer.status_code, "Set-Cookie" in answer.headers) == (403, False)
    nobody = await stage.send("nobody", "POST /sign-in", path, fields)
    assert (nobody.status_code, "Set-Cookie" in nobody.headers) == (303, True)


def hold_headers(answer: httpx.Response) -> None:
    """Check what nobody may leave out."""
    with case(answer.url):
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        if answer.status_code in {204, 303}:
            assert answer.content == b""
            assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
            return
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        assert answer.headers.get_list("Content-Security-Policy") == [HEADERS["Content-Security-Policy"]]
        assert answer.headers["Content-Type"] in {"text/html; charset=utf-8", "application/json"}
        assert (answer.headers["Content-Type"] == "application/json") == ("attachment" in str(answer.headers))


async def test_every_page_and_every_error_has_the_headers_that_protect_it(stage: Stage):
    for route in PAGES:
        path = await stage.address(route)
        for who in ("operator", "consumer", "nobody"):
            hold_headers(await stage.browser(who).get(path))
        if unknown(path) != path:
            hold_headers(await stage.people["operator"].get(unknown(path)))


@pytest.mark.long
@pytest.mark.parametrize("route", CHANGES)
async def test_what_forms_answer_has_the_same_headers(stage: Stage, route):
    path = await stage.address(route)
    for fields in ({}, {"csrf": "x"}):
        hold_headers(await stage.send("provider", route, path, fields))
    if route == "POST /sign-out":
        assert (await stage.owner.sign_in(stage.keys["provider"])).status_code == 303


NO_FILES = [
    *("README.md", "..%2Fpage.py", "..%5Cpage.py", "%2e%2e%2Fpage.py", "....%2F%2Fpage.py", "console.css%00"),
    *("console.css%2F", "CONSOLE.CSS", "console.css.", "", "%00", ".", "..", "console.css/x", "%2Fetc%2Fpasswd"),
]


async def test_no_other_file_is_served(stage: Stage):
    for name in NO_FILES:
        answer = await stage.nobody.client.get(f"/static/{name}")
        assert answer.status_code in {404, 303, 200 if answer.url.path == "/" else 404}, name
        assert not answer.headers["Cache-Control"].startswith("public"), name


async def test_every_file_that_is_served_says_what_it_is(stage: Stage):
    for name, media_type in TYPES.items():
        answer = await stage.nobody.client.get(f"/static/{name}")
        assert answer.content.startswith((STATIC / name).read_bytes())
        assert answer.headers["Content-Type"].partition(";")[0] == media_type
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "route", [route for route in CHANGES if route.endswith(("/visibility", "/sign-off", "/withdraw", "/erase-contact"))]
)
async def test_an_answer_leads_to_ids_as_they_are_stored(stage: Stage, route):
    path = await stage.address(route)
    [asked] = re.findall(r"/([0-9a-f-]{36})/", path)
    otherwise = path.replace(asked, f"urn:uuid:{asked.replace('-', '')}")
    answer = await stage.send("operator", route, otherwise, await stage.form(route, path))
    assert answer.headers["Location"].partition("?")[0] == path.rpartition("/")[0]
