"""What each method sends, and how it reads the answer."""

import json

import httpx
import pytest
from pydantic import ValidationError

from aegis_sdk import Client, EntryDocument, SettingsError, VisibleTo
from aegis_sdk.wire import EXAMPLE_ENTRY, EXAMPLE_HEAD, EXAMPLE_MEASURE, Head, Measure, PublishedHead

HEAD = Head.model_validate(EXAMPLE_HEAD)
PATH = f"/v1/entries/{HEAD.id}"


def answer(status=200, body=EXAMPLE_HEAD, **headers):
    return httpx.Response(status, json=body, headers={k.replace("_", "-"): v for k, v in headers.items()})


def line(request):
    return f"{request.method} {request.url.raw_path.decode()}"


def test_the_key_travels_as_bearer_token(scripted):
    client, script = scripted(answer(body={"items": []}))
    client.measures()
    assert script.requests[0].headers["Authorization"] == "Bearer aegis_test_0123456789"


def test_address_and_key_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("AEGIS_URL", "https://aegis.test/base/")
    monkeypatch.setenv("AEGIS_API_KEY", "from-environment\n")
    seen = []

    def service(request):
        seen.append(request)
        return answer(body={"items": []})

    Client(transport=httpx.MockTransport(service)).measures()
    assert str(seen[0].url) == "https://aegis.test/base/v1/measures"
    assert seen[0].headers["Authorization"] == "Bearer from-environment"


def test_without_key_nothing_is_claimed(monkeypatch):
    monkeypatch.delenv("AEGIS_API_KEY", raising=False)
    seen = []

    def service(request):
        seen.append(request)
        return answer(body={"items": []})

    Client("http://service.test", transport=httpx.MockTransport(service)).measures()
    assert "Authorization" not in seen[0].headers


def test_measures(scripted):
    client, script = scripted(answer(body={"items": [EXAMPLE_MEASURE]}))
    assert client.measures() == [Measure.model_validate(EXAMPLE_MEASURE)]
    assert line(script.requests[0]) == "GET /v1/measures"


@pytest.mark.parametrize(
    "entry",
    [
        EXAMPLE_ENTRY,
        EntryDocument.model_validate(EXAMPLE_ENTRY),
        json.dumps(EXAMPLE_ENTRY).encode(),
    ],
    ids=["mapping", "document", "bytes"],
)
def test_publish_sends_the_entry_as_it_is(scripted, entry):
    client, script = scripted(answer(201))
    assert client.publish(entry) == PublishedHead(**HEAD.model_dump())
    assert line(script.requests[0]) == "POST /v1/entries"
    assert script.requests[0].headers["Content-Type"] == "application/json"
    assert script.body() == EXAMPLE_ENTRY


def test_publish_leaves_bytes_untouched(scripted):
    client, script = scripted(answer(201))
    client.publish(b'{ "format": 1.0 }')
    assert script.requests[0].content == b'{ "format": 1.0 }'


@pytest.mark.parametrize(("accepts", "params"), [(True, {"accept_small_counts": "true"}), (False, {})])
def test_small_counts_are_accepted_by_a_parameter(scripted, accepts, params):
    client, script = scripted(answer(201), answer())
    client.publish(EXAMPLE_ENTRY, accept_small_counts=accepts)
    client.update(HEAD.id, EXAMPLE_ENTRY, if_match='"2"', accept_small_counts=accepts)
    assert [dict(request.url.params) for request in script.requests] == [params, params]


def test_update_replaces_the_latest_version(scripted):
    client, script = scripted(answer(ETag='"3"'), answer(body=EXAMPLE_HEAD | {"version": 4}))
    assert client.update(HEAD.id, EXAMPLE_ENTRY).version == 4
    assert [line(request) for request in script.requests] == [f"GET {PATH}", f"PUT {PATH}"]
    assert script.requests[1].headers["If-Match"] == '"3"'
    assert script.body() == EXAMPLE_ENTRY


def test_update_replaces_the_version_that_was_read(scripted):
    client, script = scripted(answer())
    client.update(HEAD.id, EXAMPLE_ENTRY, if_match='"2"')
    assert [request.headers["If-Match"] for request in script.requests] == ['"2"']


def test_entries_goes_through_all_pages(scripted):
    pages = [
        {"items": [EXAMPLE_HEAD | {"id": "1"}, EXAMPLE_HEAD | {"id": "2"}], "next_page_token": "a&b"},
        {"items": [], "next_page_token": "c"},
        {"items": [EXAMPLE_HEAD | {"id": "3"}], "next_page_token": None},
    ]
    client, script = scripted(*(answer(body=page) for page in pages))
    found = client.entries(query="health", label="health")
    assert not script.requests
    assert [head.id for head in found] == ["1", "2", "3"]
    asked = [dict(request.url.params) for request in script.requests]
    wanted = {"query": "health", "label": "health", "limit": "200"}
    assert asked == [wanted, wanted | {"page_token": "a&b"}, wanted | {"page_token": "c"}]


@pytest.mark.parametrize(
    ("require", "sent"),
    [({"k": 10}, "k=10"), ({"t": 0.2}, "t=0.2"), ({"epsilon": 1e-9}, "epsilon=0.000000001"), ({}, None)],
)
def test_what_entries_must_offer_is_sent_with_all_digits_and_no_exponent(scripted, require, sent):
    client, script = scripted(answer(body={"items": [], "next_page_token": None}))
    assert list(client.entries(attribute="age", license="CC0-1.0", require=require)) == []
    wanted = {"attribute": "age", "license": "CC0-1.0", "limit": "200"} | ({"require": sent} if sent else {})
    assert [dict(request.url.params) for request in script.requests] == [wanted]


def test_entry_of_a_version(scripted):
    client, script = scripted(answer(body=EXAMPLE_HEAD | {"schema": {"name": "x"}}))
    assert client.entry(HEAD.id).entry_schema == {"name": "x"}
    client.entry(HEAD.id, version=2)
    assert [line(request) for request in script.requests] == [f"GET {PATH}", f"GET {PATH}?version=2"]


def test_ids_cannot_leave_their_place_in_the_path(scripted):
    client, script = scripted(answer(204))
    client.delete("../keys?x=1")
    assert line(script.requests[0]) == "DELETE /v1/entries/..%2Fkeys%3Fx%3D1"


def test_summaries_are_the_entry_as_published(scripted):
    client, script = scripted(answer(body=EXAMPLE_ENTRY))
    assert client.summaries(HEAD.id) == EXAMPLE_ENTRY
    assert line(script.requests[0]) == f"GET {PATH}/summaries"


@pytest.mark.parametrize(
    ("visibility", "sent"),
    [
        ("all", "all"),
        (VisibleTo(tenants=["a"]), {"tenants": ["a"]}),
    ],
)
def test_visibility_is_patched(scripted, visibility, sent):
    client, script = scripted(answer())
    assert client.set_visibility(HEAD.id, visibility) == HEAD
    assert line(script.requests[0]) == f"PATCH {PATH}"
    assert script.body() == {"visibility": sent}


def test_no_visibility_is_not_sent(scripted):
    client, script = scripted(answer())
    with pytest.raises(ValidationError):
        client.set_visibility(HEAD.id, "public")
    assert not script.requests


@pytest.mark.parametrize(
    "url",
    ["127.0.0.1:8000", "ftp://service.test", "http://", "http://user:secret@service.test", "http://[::1"],
)
def test_an_unusable_address_is_refused_at_once(url):
    with pytest.raises(SettingsError) as caught:
        Client(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["two words", "a\nb", "schlüssel"])
def test_an_unusable_key_is_refused_without_showing_it(key):
    with pytest.raises(SettingsError) as caught:
        Client(api_key=key)
    assert key not in str(caught.value)


def test_a_client_closes_its_connections():
    class Transport(httpx.BaseTransport):
        closed = False

        def close(self):
            self.closed = True

    transport = Transport()
    with Client(transport=transport) as client:
        assert repr(client).startswith("Client('http")
    assert transport.closed


@pytest.mark.parametrize(
    ("url", "proxied"),
    [
        ("http://127.0.0.1:8000", False),
        ("http://localhost", False),
        ("http://[::1]:8000", False),
        ("https://aegis.test", True),
    ],
)
def test_a_service_on_this_machine_is_not_looked_for_behind_a_proxy(url, proxied):
    with Client(url) as client:
        assert client._http.trust_env is proxied
