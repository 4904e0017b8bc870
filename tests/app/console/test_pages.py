"""What all pages have in common: headers, errors, forms from elsewhere, and the files that they load."""

import gzip
import hashlib
import re
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from aegis_sdk.reading import number, percent
from app.pages.glossary import glossary
from app.pages.page import TYPES
from app.pages.words import anchor, criterion, moment, plural, size
from tests.app.console.html import BROWSER, SENT, look
from tests.service import publish, running_app

STATIC = Path("app/pages/static")
HTMX = "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130"
WORDS = [line for line in Path("docs/glossary.md").read_text().splitlines() if line.startswith("| ")]
UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize("path", ["/", "/glossary"])
async def test_a_page_may_load_and_run_what_the_service_has_and_nothing_inline(shared_api, path):
    answer = await shared_api.get(path, headers={"Accept": "text/html"})
    policy = dict(part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; "))
    assert policy == {
        "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "'self'",
        "connect-src": "'self'", "form-action": "'self'", "base-uri": "'none'", "frame-ancestors": "'none'",
    }  # fmt: skip
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    found = await look(shared_api, path)
    loaded = [one.get("src") or one.get("href") for tag in ("script", "link", "img") for one in found.all(tag)]
    assert all(place and place.startswith("/static/") for place in loaded)
    assert not [name for _, named in found.tags for name in named if name == "style" or name.startswith("on")]


async def test_every_file_that_a_page_loads_is_there_and_is_kept_by_browsers(shared_api):
    found = await look(shared_api, "/")
    for place in {one.get("src") or one.get("href") for tag in ("script", "link", "img") for one in found.all(tag)}:
        answer = await shared_api.get(place)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["Cache-Control"]
    assert (await shared_api.get("/static/README.md")).status_code == 404
    assert (await shared_api.get("/static/..%2Fpage.py")).status_code == 404


def test_scripts_and_style_are_small_and_htmx_is_as_published():
    sizes = {name: len(gzip.compress((STATIC / name).read_bytes(), 9)) for name in TYPES}
    assert sizes["htmx.min.js"] + sizes["console.js"] <= 20_000
    assert sizes["console.css"] <= 12_000
    assert hashlib.sha256((STATIC / "htmx.min.js").read_bytes()).hexdigest() == HTMX
    assert not re.search(r"url\(|@import", (STATIC / "console.css").read_text())


async def test_a_defect_is_a_page_and_is_logged_without_its_message(shared_api, monkeypatch, caplog):
    def fail():
        raise ValueError("12345 records")

    monkeypatch.setattr("app.pages.glossary.glossary", fail)
    page = await look(shared_api, "/glossary", 500)
    assert "This page failed. The log of the service says why." in page.text
    assert "12345" not in page.text
    assert "unexpected error" in caplog.text


async def test_what_is_not_there_is_a_page_that_says_so(shared_api):
    found = await look(shared_api, f"/advice/{UNKNOWN}", 404)
    assert f"There is no advice {UNKNOWN}" in found.text
    assert "/" in found.links


@pytest.mark.parametrize("path", ["/nonexistent", "/requests/", "/<script>"])
async def test_an_address_without_a_page_is_a_page_that_says_so(shared_api, path):
    assert f"There is no page {path}." in (await look(shared_api, path, 404)).text
    assert (await shared_api.get(path)).headers["Content-Type"] == "application/problem+json"
    assert (await shared_api.get(f"/v1{path}", headers=BROWSER)).headers["Content-Type"] == "application/problem+json"


async def test_a_page_that_is_only_sent_to_says_so(shared_api):
    assert "that can be asked for by GET" in (await look(shared_api, "/sign-out", 405)).text


async def test_an_invalid_parameter_is_named(shared_api):
    found = await look(shared_api, f"/entries/{UNKNOWN}?version=0", 422)
    assert "/version" in found.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {},
    ],
    ids=["another", "null", "another port", "cross-site", "same-site", "unknown"],
)
async def test_a_form_of_another_page_changes_nothing(shared_api, headers):
    entry = UNKNOWN
    answer = await shared_api.post(f"/entries/{entry}/ask", data={"measure": "g3"}, headers=headers)
    assert answer.status_code == 403
    assert "must come from a page of http://127.0.0.1" in answer.text


async def test_the_service_answers_only_under_its_own_names_in_development(shared_api):
    answer = await shared_api.get("/glossary", headers={"Host": "evil.example"})
    assert answer.status_code == 403
    assert "127.0.0.1" in answer.text


async def test_a_form_must_be_one(shared_api):
    answer = await shared_api.post(f"/entries/{UNKNOWN}/ask", content=b"{}", headers=SENT)
    assert answer.status_code == 415
    wrong = await shared_api.post(
        f"/entries/{UNKNOWN}/ask",
        content=b"measure=%ff",
        headers=SENT | {"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert wrong.status_code == 400


async def test_programs_read_the_first_page_as_before_and_a_setting_leaves_the_console_out(database_url, shared_api):
    assert (await shared_api.get("/", headers={"Accept": "application/json"})).json()["name"] == "Aegis"
    assert "Getting started" in (await shared_api.get("/", headers={"Accept": "*/*"})).text
    async with running_app(database_url, console=False) as api:
        assert "Getting started" in (await api.get("/", headers={"Accept": "text/html"})).text
        assert (await api.get("/glossary")).status_code == 404


async def test_the_glossary_has_every_word_of_the_documents(shared_api):
    assert len(glossary()) == len(WORDS) - 2  # two tables have a head each
    places = [word.anchor for word in glossary()]
    assert len(set(places)) == len(places)
    found = await look(shared_api, "/glossary")
    assert {one.get("id") for one in found.all("dt")} == set(places)


def test_every_word_that_templates_link_is_in_the_glossary():
    linked = {
        word
        for template in Path("app").rglob("*.html")
        for word in re.findall(r'\{\{ "([^"]+)" \| term', template.read_text())
    }
    assert linked
    assert {anchor(word) for word in linked} <= {word.anchor for word in glossary()}


async def test_entries_are_listed_and_searched(database_url):
    async with running_app(database_url) as api:
        assert "There are no entries yet" in (await look(api, "/")).text
        head = await publish(api)
        found = await look(api, "/")
        assert f"/entries/{head['id']}" in found.links
        in_vain = "Words are searched in names, titles, keywords, and the names of labels and attributes."
        assert in_vain in (await look(api, "/?query=nothing-like-this")).text
        assert in_vain not in (await look(api, "/?attribute=nothing-like-this")).text


def test_numbers_are_written_for_people():
    assert (number(0.000123456), number(1234.5), number(0.0)) == ("0.000123", "1,234", "0")
    assert (percent(0.8734), size(999), size(1_540_000)) == ("87.3\N{NO-BREAK SPACE}%", "999 bytes", "1.54 MB")
    assert (size(67_108_864), size(9_990_000)) == ("67 MB", "9.99 MB")
    assert [criterion(name) for name in ("k", "entropy_l", "suppressed")] == ["k", "Entropy l", "Suppressed"]
    assert (plural(1, "entry", "entries"), plural(12_345, "row")) == ("1 entry", "12,345 rows")


def test_times_are_in_utc_for_people_and_programs():
    at = datetime(2026, 3, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert moment(at) == '<time datetime="2026-02-28T23:30:00Z">2026-02-28 23:30 UTC</time>'
