"""The catalogue: the search, its faults beside its fields, its pages, and what it says where there is nothing."""

import re
import shlex
from html import unescape
from urllib.parse import urlencode

import pytest

from app.pages import viewers
from app.platform.callers import Caller, Role
from tests.app.console.html import look
from tests.service import example_entry, publish, running_app


@pytest.fixture(name="api")
async def _api(database_url):
    async with running_app(database_url) as api:
        yield api


async def lines_of(api, path):
    """The lines to copy, as the shell reads them."""
    text = (await api.get(path, headers={"Accept": "text/html"})).text
    return [shlex.split(unescape(line)) for line in re.findall(r"<code data-copy>(.*?)</code>", text)]


async def test_a_row_says_what_an_entry_is(api):
    head = await publish(api)
    page = await look(api, "/")
    words = f"Self-rated health health-survey of default, version 1, {head['created_at'][:10]}"
    assert words in page.text
    assert "Predicts health; 100 records, 1 column; k up to 5; licence CC0-1.0" in page.text
    assert {f"/entries/{head['id']}", "/?keyword=health"} <= set(page.links)


SEARCHES = [
    ({"query": "rated self"}, True),
    ({"query": "nothing"}, False),
    ({"query": "age healt"}, True),
    ({"attribute": "age"}, True),
    ({"attribute": "ag"}, False),
    ({"label": "health"}, True),
    ({"label": "age"}, False),
    ({"license": "CC0-1.0"}, True),
    ({"license": "CC0"}, False),
    ({"keyword": "health"}, True),
    ({"criterion": "k", "limit": "5"}, True),
    ({"criterion": "k", "limit": "6"}, False),
    ({"criterion": "t", "limit": "0.5"}, False),
    ({"criterion": "t", "limit": ""}, True),
]


async def test_entries_are_searched_and_the_lines_to_copy_search_the_same(api):
    head, told = await publish(api), []
    for asked, _ in SEARCHES:
        path = f"/?{urlencode(asked)}"
        page = await look(api, path)
        is_found = f"/entries/{head['id']}" in page.links
        assert ("No visible entry matches" in page.text) is not is_found, asked
        typed = {one["name"]: one["value"] for one in page.all("input")}
        assert {name: text for name, text in asked.items() if name != "criterion"}.items() <= typed.items()
        *_, call = await lines_of(api, path)
        found = (await api.get(call[-1].removeprefix("$AEGIS_URL"))).json()["items"]
        assert [one["id"] for one in found] == ([head["id"]] if is_found else []), asked
        told.append((asked, is_found))
    assert told == SEARCHES


@pytest.mark.parametrize(
    ("asked", "field", "said"),
    [
        ({"query": "x" * 256}, "query", "at most 255 characters"),
        ({"label": "a\x00b"}, "label", "control characters"),
        ({"limit": "many"}, "limit", "Give a number"),
        ({"criterion": "nonsense", "limit": "1"}, "limit", "Give a number"),
    ],
    ids=["long", "control", "number", "criterion"],
)
async def test_what_is_wrong_is_said_beside_its_field_which_keeps_what_was_typed(api, asked, field, said):
    page = await look(api, f"/?{urlencode(asked)}", 422)
    marked = [one for one in page.all("input") if "aria-invalid" in one]
    assert [one["name"] for one in marked] == [field]
    assert marked[0]["value"] == asked[field]
    assert marked[0]["aria-describedby"] in {one.get("id") for one in page.all("p")}
    assert said in page.text


async def test_a_page_that_is_not_there_leads_to_the_first(api):
    page = await look(api, "/?query=a&page_token=nonsense", 422)
    assert "Not a page token" in page.text
    assert "/?query=a" in page.links


async def test_further_pages_search_the_same(api):
    for number in range(26):
        await publish(api, example_entry(name=f"entry-{number}"))
    first = await look(api, "/?label=health")
    following = next(link for link in first.links if "page_token=" in (link or ""))
    assert following.startswith("/?label=health&page_token=")
    second = await look(api, following)
    entries = [link for page in (first, second) for link in page.links if link.startswith("/entries/")]
    assert len(set(entries)) == len(entries) == 26
    assert "/?label=health" in second.links


async def test_an_empty_catalogue_says_what_to_do(api, monkeypatch):
    page = await look(api, "/")
    assert "/publish" in page.links
    assert "/publish/example" in [one["action"] for one in page.all("form")]
    consumer = Caller("lab", frozenset({Role.CONSUMER}), "key")
    monkeypatch.setattr(viewers, "DEVELOPER", consumer)
    page = await look(api, "/")
    assert "No entry is visible to lab yet" in page.text
    assert "/publish" not in page.links


async def test_a_query_is_shown_as_text(api):
    page = await look(api, "/?" + urlencode({"query": '"><script>alert(1)</script>'}))
    assert all(one["src"].startswith("/static/") for one in page.all("script"))
