"""The pages: they say everything that the OpenAPI document does, and load nothing from elsewhere."""

import re
from html.parser import HTMLParser
from importlib.metadata import version

import pytest

from app.about import kind_of, prose
from tests.answers import document
from tests.service import create_key, running_app

PAGES = ("/", "/docs")
NUMBERS = "list (1 or more items) of (<code>1</code> or <code>2</code>)"


@pytest.fixture(name="shared_api")
async def _api_without_console(database_url):
    async with running_app(database_url, console=False) as api:
        yield api


class Page(HTMLParser):
    """What a page holds: its anchors, its links, and whatever a browser would load or run."""

    #: Elements that have no end.
    EMPTY = ("meta", "link")

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded, self.tags, self.attributes, self.open = [], [], [], set(), set(), []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.tags.add(tag)
        self.attributes |= named.keys()
        self.anchors += [named["id"]] if "id" in named else []
        self.links += [named["href"]] if tag == "a" else []
        self.loaded += [named[name] for name in ("src", "href") if name in named and tag != "a"]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


async def page(api, path):
    answer = await api.get(path, headers={"Accept": "text/html"})
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    return Page(answer.text)


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_runs_nothing_and_loads_its_style_sheet_alone(shared_api, path):
    found = await page(shared_api, path)
    assert found.open == []
    assert found.loaded == ["/docs/style.css"]
    assert found.tags.isdisjoint({"script", "style", "img", "iframe", "form"})
    assert not [name for name in found.attributes if name == "style" or name.startswith("on")]
    policy = (await shared_api.get(path)).headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "style-src 'self'" in policy
    assert "unsafe" not in policy
    assert "script-src" not in policy


async def test_the_style_sheet_loads_nothing(shared_api):
    answer = await shared_api.get("/docs/style.css")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/css; charset=utf-8")
    assert not re.search(r"url\(|@import|//", answer.text)


@pytest.mark.parametrize("path", PAGES)
async def test_links_lead_somewhere(shared_api, path):
    found = await page(shared_api, path)
    assert len(found.anchors) == len(set(found.anchors))
    for link in set(found.links):
        place, _, anchor = link.partition("#")
        assert not anchor or anchor in found.anchors
        assert not place or (await shared_api.get(place)).status_code == 200


async def test_the_reference_has_every_operation_and_model(shared_api):
    found = await page(shared_api, "/docs")
    described = document()["paths"] | document()["webhooks"]
    operations = [one["operationId"] for methods in described.values() for one in methods.values()]
    assert set(found.anchors) == {*operations, *document()["components"]["schemas"]}
    text = (await shared_api.get("/docs")).text
    for path, methods in described.items():
        assert f"<code>{path}</code>" in text
        for one in methods.values():
            for parameter in one.get("parameters", []):
                assert f"<code>{parameter['name']}</code>" in text or parameter["name"] == "authorization"


async def test_the_first_page_says_how_to_begin(shared_api, database_url):
    text = (await shared_api.get("/")).text
    assert "development mode" in text
    assert version("aegis-masking-server") in text
    await create_key(database_url, "owner", "provider")
    async with running_app(database_url) as guarded:
        text = (await guarded.get("/")).text
    assert "aegis-server keys create" in text
    assert "development mode" not in text


@pytest.mark.parametrize(
    ("accepted", "is_json"),
    [
        ("application/json", True),
        ("*/*", False),
        ("text/html,*/*;q=0.8", False),
        ("application/json, text/html;q=0.5", True),
        ("text/plain", False),
    ],
)
async def test_programs_get_the_first_page_as_json(shared_api, accepted, is_json):
    answer = await shared_api.get("/", headers={"Accept": accepted})
    assert answer.headers["Content-Type"].startswith("application/json" if is_json else "text/html")
    assert "Accept" in answer.headers["Vary"]
    assert {"service-desc", "service-doc"} == set(answer.links)
    if is_json:
        assert answer.json()["version"] == version("aegis-masking-server")
        assert [(await shared_api.get(answer.json()[name])).status_code for name in ("documentation", "openapi")] == [
            200
        ] * 2


@pytest.mark.parametrize("path", [*PAGES, "/docs/style.css", "/openapi.json"])
async def test_a_page_is_kept_until_it_changes_and_has_a_head(shared_api, path):
    answer = await shared_api.get(path)
    assert answer.headers["Cache-Control"] == "public, no-cache"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    again = await shared_api.get(path, headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    only_head = await shared_api.head(path)
    assert (only_head.status_code, only_head.content) == (200, b"")


async def test_the_document_is_the_committed_one(shared_api):
    assert (await shared_api.get("/openapi.json")).json() == document()


def test_what_a_document_says_is_text_on_a_page():
    assert str(prose("a < `b<c>` & d")) == "a &lt; <code>b&lt;c&gt;</code> &amp; d"
    assert str(kind_of({"const": "<b>"})) == "<code>&#34;&lt;b&gt;&#34;</code>"
    assert str(kind_of({"$ref": "#/components/schemas/<b>"})) == '<a href="#&lt;b&gt;">&lt;b&gt;</a>'


WORDS = [
    ({}, "any JSON value"),
    ({"type": "integer", "minimum": 0, "maximum": 9}, "integer (0 to 9)"),
    ({"type": "number", "exclusiveMinimum": 0}, "number (above 0)"),
    ({"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}]}, "string (up to 3 characters) or null"),
    ({"type": "array", "items": {"type": "string"}}, "list of string"),
    ({"type": "array", "minItems": 1, "items": {"enum": [1, 2]}}, NUMBERS),
    ({"type": "object", "additionalProperties": {"type": "number"}}, "object of number"),
    ({"type": "object", "additionalProperties": False}, "object"),
]


def test_a_schema_in_words():
    assert [(schema, str(kind_of(schema))) for schema, _ in WORDS] == WORDS
