"""What strangers write into entries, requests and addresses stays text, and breaks no page."""

import re
from collections.abc import Iterator
from secrets import token_urlsafe
from urllib.parse import quote, urlencode

import pytest
from fastapi.routing import APIRoute
from pydantic import BaseModel

from app.console import registry
from app.entries.pages.catalogue import _Fields
from tests.app.console.harmless import harmless
from tests.app.console.stage import Stage, routes, stage_in_development, stage_with_keys
from tests.app.requests.test_verifications import DELIVERED
from tests.console import Browser
from tests.postgres import SERVICE, as_role, create_database, drop_database
from tests.service import Worker, example_entry

PAGES = [route for route in routes() if route.startswith("GET ") and "/static/" not in route]

SCRIPT = "</bdi></code></td></title></textarea>\"'><script>alert(1)</script><img src=x onerror=alert(1)>"
#: Attempts of which each would show in another place of a page.
ATTEMPTS = [
    SCRIPT,
    "javascript:alert(1)",
    '" onfocus="alert(1)" autofocus x="',
    "{{ 7777 * 7777 }}{% include 'base.html' %}",
    "<!--",
]

MARKDOWN = "\n\n".join(
    [
        SCRIPT,
        "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html;base64,PHN)",
        "[d](vbscript:x) <javascript:x>",
        "[e](&#106;avascript:alert(1)) [f](java\nscript:alert(1)) [g](\\javascript:x) [h](//evil.example)",
        "[i](/sign-out)",
        '![j](x "onerror=alert(1)") ![k](javascript:alert(1)) ![l](https://evil.example/pixel.png)',
        '[m](https://evil.example/"onmouseover="alert(1)) [n](https://a.example "\\"><script>alert(1)</script>")',
        "<a href='javascript:alert(1)'>o</a> <svg/onload=alert(1)> <iframe src=//evil.example></iframe>",
        "[p]: javascript:alert(1)\n\n[p] `<script>` \n\n    <script>alert(1)</script>",
        "| <script> | [x](javascript:alert(1)) |\n|---|---|\n| <img onerror=alert(1)> | ~~<b>~~ |",
        '```html"><script>alert(1)</script>\n<script>alert(1)</script>\n```',
        "# <script>alert(1)</script>\n\n<!-- <script> -->\n\n<![CDATA[<script>]]>\n\n<?php ?>",
    ]
)


def hostile_entry():
    """An entry with a script in everything that its provider words."""
    entry = example_entry(name="hostile", visibility="all", title=f"Title {SCRIPT}", description=MARKDOWN)
    entry |= {"keywords": [*ATTEMPTS], "license": "javascript:alert(1)"}
    entry["terms"] = {
        "@context": "http://www.w3.org/ns/odrl.jsonld",
        "@type": "Offer",
        "uid": "javascript:alert(1)",
        SCRIPT: [{"action": SCRIPT, "constraint": ATTEMPTS}],
    }
    label, [attribute] = entry["label"], entry["attributes"]
    label["name"] = f"label {SCRIPT}"
    label["domain"] = [f"{value} {ATTEMPTS[at % len(ATTEMPTS)]}" for at, value in enumerate(label["domain"])]
    attribute |= {"name": f"age {SCRIPT}", "type": "string"}
    attribute["domain"] = [f"{value} {ATTEMPTS[at % len(ATTEMPTS)]}" for at, value in enumerate(attribute["domain"])]
    [masking] = attribute["maskings"]
    masking |= {"id": f"masking {SCRIPT}", "domain": [f"young {SCRIPT}", 'old " onclick="alert(1)']}
    masking["function"] = {"name": SCRIPT, "parameters": {SCRIPT: SCRIPT}}
    entry["configurations"] = [
        {"id": f"c01 {SCRIPT}", "maskings": {attribute["name"]: masking["id"]}, "privacy": {"k": 5}},
        {"id": 'c02" onclick="alert(1)', "maskings": {attribute["name"]: "drop"}, "privacy": {"k": 50}},
        {"id": "javascript:c03", "maskings": {attribute["name"]: "identity"}, "privacy": {"k": 2}},
    ]
    return entry


NAMES = {"owner": f"owner {SCRIPT}", "stranger": 'stranger" onclick="alert(1)', "elsewhere": "javascript:alert(1)"}


@pytest.fixture(name="hostile_url", scope="module")
def _hostile_url(postgres, migrated) -> Iterator[str]:
    yield as_role(create_database(postgres.url, "hostile_console", template=migrated), SERVICE)
    drop_database(postgres.url, "hostile_console")


@pytest.fixture(name="hostile", scope="module")
async def _hostile(_one_loop, hostile_url):
    """People of tenants whose names are scripts, before an entry that is one, and requests that went all ways."""
    async with stage_with_keys(hostile_url, NAMES, hostile_entry()) as stage:
        yield stage


async def opened(stage: Stage, route: str) -> list[str]:
    """The page of a route as each of several people sees it."""
    path = await stage.address(route)
    answers = [await stage.people[who].get(path) for who in ("provider", "consumer", "operator", "other")]
    assert {answer.status_code for answer in answers} <= {200, 403, 404}
    return [answer.text for answer in answers if answer.headers["Content-Type"].startswith("text/html")]


@pytest.mark.long
@pytest.mark.parametrize("route", PAGES)
async def test_what_people_word_runs_nowhere(hostile: Stage, route):
    for text in await opened(hostile, route):
        harmless(text)
        assert str(7777 * 7777) not in text


@pytest.mark.long
async def test_what_people_word_is_shown_as_they_worded_it(hostile: Stage):
    entry = f"/entries/{hostile.head['id']}"
    pages = [await hostile.owner.get(path) for path in (entry, "/", f"{entry}/counts", f"{entry}/ask")]
    assert all(SCRIPT.replace("</title>", "")[-40:] in harmless(page.text).text for page in pages[:2])
    assert all("alert(1)" in harmless(page.text).text for page in pages)


@pytest.mark.long
async def test_an_answer_with_hostile_names_is_drawn_compared_and_asked_again(hostile: Stage):
    place = f"/advice/{hostile.advice_id}"
    for second in (row["id"] for row in hostile.document["configurations"]):
        first = hostile.document["configurations"][0]["id"]
        address = f"{place}?first={quote(first, safe='')}&second={quote(second, safe='')}&across=k"
        for who in ("provider", "operator"):
            page = await hostile.people[who].get(address)
            assert page.status_code == 200
            links = {str(one).partition("#")[0] for one in harmless(page.text).links}
            for link in sorted(one for one in links if one.startswith(("/advice/", "/entries/"))):
                again = await hostile.people[who].get(link)
                assert again.status_code == 200
                harmless(again.text)


@pytest.mark.long
async def test_a_request_with_hostile_words_is_harmless_in_each_of_its_states(hostile: Stage, hostile_url):
    said = {"purpose": f"purpose {SCRIPT}\n{MARKDOWN}"[:1900], "contact": f"javascript:alert(1) {SCRIPT}"[:290]}
    question = {"measure": "g3", "attributes": [hostile.document["attributes"][0]["name"]], "require": {"k": 5}}
    path = f"/v1/entries/{hostile.head['id']}/requests"
    asked = said | question | {"terms": hostile.head["terms"]}
    made = await hostile.call("POST", path, "other", json=asked)
    async with Worker.on(hostile_url) as worker:
        await worker.run()
    place, other = f"/requests/{made['id']}", hostile.document["configurations"][1]["id"]
    await look(hostile, place)
    await hostile.call(
        "POST", f"/v1{place}/actions", json={"action": "counter", "configuration": other, "reason": SCRIPT}
    )
    await look(hostile, place)
    await hostile.call("POST", f"/v1{place}/actions", "other", json={"action": "accept", "reason": f"reason {SCRIPT}"})
    card = {"@context": "javascript:alert(1)", SCRIPT: [SCRIPT, {"x": MARKDOWN}]}
    url = "https://store.example/%22%3E%3Cscript%3Ealert(1)?'onclick='alert(1)"
    told = DELIVERED | {"action": "deliver", "url": url, "configuration": other, "privacy": {"k": 60}, "card": card}
    await hostile.call("POST", f"/v1{place}/actions", json=told | {"entry_digest": hostile.head["digest"]})
    await look(hostile, place)
    dispute = {name: told[name] for name in ("sha256", "size", "records", "privacy")}
    asked = {"action": "dispute", "reason": SCRIPT} | dispute
    await hostile.call("POST", f"/v1{place}/actions", "other", json=asked)
    await look(hostile, place)


async def look(stage: Stage, place: str) -> None:
    for who in ("provider", "other", "operator"):
        for path in (place, f"{place}/now", "/requests", "/operator/audit"):
            answer = await stage.people[who].get(path)
            assert answer.status_code in {200, 403}
            harmless(answer.text)


#: What nobody types, percent-encoded.
ODD_TEXTS = ["%00", "%0D%0ASet-Cookie:+a=b", "%ED%A0%80", "%FF", "%F0%9F%98%80%E2%80%AE", "x" * 3000]
ODD_NUMBERS = ["-1", "1.5", "1e308", "NaN", "9" * 10, "9" * 20, "9" * 5000, "%C2%B2", "%D9%A3"]
ODD = [
    *("", "+", "%", "0", "..%2F", "[]", "__class__", "00000000-0000-0000-0000-000000000000", "aegis_00000000"),
    *("0001-01-01T00:00:00%2B14:00", "9999-12-31T23:59:59-14:00", "%0A0000000-0000-0000-0000-000000000000"),
    *(ODD_TEXTS + ODD_NUMBERS),
    *(quote(one, safe="") for one in ATTEMPTS),
]

#: Parameters that pages read by themselves, or look for by names that depend on the entry.
_FREE = {
    "GET /": sorted(_Fields.model_fields),
    "GET /entries/{entry_id}/ask": ["measure", "attributes", "named", "kinds", "weight-age", "step-age", "require-k"],
    "GET /requests/new": [
        "entry",
        "version",
        "advice",
        "purpose",
        "contact",
        "measure",
        "attributes",
        "weight-age",
        "once",
    ],
}


def parameters(route: APIRoute) -> Iterator[str]:
    """The names of what a route reads from an address, beside its path."""
    for parameter in route.dependant.query_params:
        model = parameter.field_info.annotation
        yield from model.model_fields if isinstance(model, type) and issubclass(model, BaseModel) else [parameter.alias]
    yield from _FREE.get(f"GET {route.path}", ())
    yield "unknown"


GETS = {
    f"GET {route.path}": sorted(set(parameters(route)))
    for router in registry.ROUTERS
    for route in router.routes
    if isinstance(route, APIRoute) and "GET" in route.methods
}


@pytest.fixture(name="open_stage", scope="module")
async def _open_stage(_one_loop, shared_database_url):
    async with stage_in_development(shared_database_url) as stage:
        yield stage


async def hold(browser: Browser, path: str) -> None:
    """Open a page, which must not break."""
    answer = await browser.get(path)
    assert answer.status_code < 500, (path[:200], answer.text)
    assert all("\n" not in value and "\r" not in value for value in answer.headers.values())
    assert "Set-Cookie" not in answer.headers
    if answer.headers.get("Content-Type", "").startswith("text/html"):
        assert len(answer.content) < 200_000
        harmless(answer.text)


@pytest.mark.long
@pytest.mark.parametrize("route", GETS)
async def test_no_parameter_of_an_address_breaks_a_page_or_becomes_part_of_it(open_stage: Stage, route):
    path, _, query = (await open_stage.address(route)).partition("?")
    for name in GETS[route]:
        kept = "&".join(part for part in query.split("&") if part and not part.startswith(f"{name}="))
        for odd in ODD:
            await hold(open_stage.owner, f"{path}?{kept}&{quote(name)}={odd}")
        await hold(open_stage.owner, f"{path}?{kept}&{name}=1&{name}=2&{name}=&{name}[]=3&{name}.x=4")


@pytest.mark.long
@pytest.mark.parametrize("route", [route for route in GETS if "{" in route])
async def test_no_odd_id_breaks_a_page_or_becomes_part_of_it(open_stage: Stage, route):
    path = route.removeprefix("GET ") + "?" + (await open_stage.address(route)).partition("?")[2]
    for odd in ODD:
        await hold(open_stage.owner, re.sub("{[^}]*}", lambda _, odd=odd: odd, path))


@pytest.mark.long
async def test_no_number_of_parameters_breaks_a_page(open_stage: Stage):
    for path in ("/", f"/entries/{open_stage.head['id']}/ask", "/requests", "/operator/audit"):
        await hold(open_stage.owner, f"{path}?" + "&".join(f"attributes=a{at}&weight-a{at}=2" for at in range(1000)))


FORMS = [route for route in routes() if route.startswith("POST ") and route != "POST /publish"]

#: What forms have, beside what all of them have; those that are not named have a reason at most.
_FIELDS = {
    "POST /requests/{request_id}/approve": ["reason", "limit-requests", "limit-days"],
    "POST /requests/{request_id}/counter": ["reason", "configuration"],
    "POST /requests/new": ["entry", "version", "terms", "purpose", "measure", "weight-age", "require-k", "attributes"],
    "POST /operator/tenant/policy": ["tenant", "k", "t"],
    "POST /operator/tenant/quota": ["tenant", "jobs"],
    "POST /operator/keys": ["tenant", "role", "expires_days", "once"],
    "POST /operator/keys/{prefix}/successor": ["overlap_hours", "expires_days", "once"],
    "POST /entries/{entry_id}/visibility": ["audience", "tenants", "state"],
    "POST /entries/{entry_id}/sign-off": ["version", "state"],
    "POST /entries/{entry_id}/ask": ["measure", "attributes", "weight-age", "step-age", "require-k", "kinds"],
    "POST /publish/confirm": ["document", "entry_id", "audience", "tenants", "file", "seen"],
    "POST /sign-in": ["key", "next"],
}


@pytest.mark.long
@pytest.mark.parametrize("route", FORMS)
async def test_no_field_of_a_form_breaks_its_page(open_stage: Stage, route):
    path, browser = await open_stage.address(route), open_stage.owner
    form = {"once": token_urlsafe(24)} | await open_stage.form(route, path)
    form |= {"tenant": "somebody"} if "/operator/" in route else {}  # others publish here after this
    headers = {"Origin": browser.origin, "Content-Type": "application/x-www-form-urlencoded"}
    for name in _FIELDS.get(route, ["reason"]):
        kept = {other: text for other, text in form.items() if other != name}
        for odd in ("", *ODD_TEXTS, *ODD_NUMBERS, quote(SCRIPT)):
            body = f"{urlencode(kept)}&{quote(name)}={odd}"
            answer = await browser.client.post(path, content=body, headers=headers)
            assert answer.status_code < 500, (name, odd[:100], answer.text)
            if answer.headers.get("Content-Type", "").startswith("text/html"):
                harmless(answer.text)
