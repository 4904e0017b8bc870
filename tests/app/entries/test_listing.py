import base64
import math
from itertools import product

import httpx
import pytest

from tests.answers import pointers
from tests.service import create_key, example_entry, publish, running_app


@pytest.fixture(scope="module")
async def listed(shared_api):
    """Five entries, oldest first, in an otherwise empty catalogue."""
    found = []
    for name, changes in {
        "alpha": {"title": "100% of it", "keywords": ["health", "two words"]},
        "beta_x": {"title": "Under the weather", "keywords": ["Health"]},
        "betazx": {"title": "ünïcode", "keywords": ["50%", "a\\b"]},
        "gamma": {"title": "", "keywords": []},
        "delta": {"title": "last", "keywords": ["one", "other"]},
    }.items():
        entry = example_entry(name=name, **changes)
        if name == "gamma":
            entry["label"]["name"] = "mood"
        found.append(await publish(shared_api, entry))
    return found


async def names(api, **params):
    answer = await api.get("/v1/entries", params=params)
    assert answer.status_code == 200
    return [head["name"] for head in answer.json()["items"]]


async def test_the_newest_comes_first(shared_api, listed):
    answer = (await shared_api.get("/v1/entries")).json()
    assert answer == {"items": listed[::-1], "next_page_token": None, "total": None}


async def test_the_pages_are_the_listing_in_pieces(shared_api, listed):
    for limit in (1, 2, 3, 4, 5, 200):
        found, token, pages = [], {}, 0
        while token is not None:
            pages += 1
            answer = (await shared_api.get("/v1/entries", params={"limit": limit} | token)).json()
            assert len(answer["items"]) <= limit
            found += answer["items"]
            token = {"page_token": answer["next_page_token"]} if answer["next_page_token"] else None
        assert found == listed[::-1], limit
        assert pages == math.ceil(len(listed) / limit)  # no empty page after a full last one


async def test_links_lead_through_the_pages_of_a_search(shared_api, listed):
    path, found = "/v1/entries?query=a&limit=2&label=health", []
    first = '</v1/entries?query=a&limit=2&label=health>; rel="first"'
    while path is not None:
        answer = await shared_api.get(path)
        found += [head["name"] for head in answer.json()["items"]]
        links, token = answer.links, answer.json()["next_page_token"]
        assert answer.headers["Link"].startswith(first)
        path = links["next"]["url"] if "next" in links else None
        assert (path is None) == (token is None)
        assert path is None or httpx.URL(path).params["page_token"] == token
    assert found == [head["name"] for head in listed[::-1] if "a" in head["name"] and head["label"] == "health"]


async def test_a_link_quotes_what_was_searched(shared_api):
    for query in ['">; rel="next"', "a&b=c", "ünï", "%0D%0A", "<>", " +"]:
        answer = await shared_api.get("/v1/entries", params={"query": query})
        assert set(answer.links) == {"first"}
        assert httpx.URL(answer.links["first"]["url"]).params["query"] == query


async def test_a_listing_of_everything_links_to_itself(shared_api):
    assert (await shared_api.get("/v1/entries")).headers["Link"] == '</v1/entries>; rel="first"'


async def test_an_entry_published_between_two_pages_moves_none(api):
    heads = [await publish(api, example_entry(name=name)) for name in "abc"]
    first = (await api.get("/v1/entries", params={"limit": 2})).json()
    await publish(api, example_entry(name="d"))
    second = (await api.get("/v1/entries", params={"limit": 2, "page_token": first["next_page_token"]})).json()
    assert first["items"] + second["items"] == heads[::-1]
    assert {(head["records"], head["columns"], head["k"]) for head in heads} == {(100, 1, 5)}


FOUND = [
    ({"query": "alp"}, ["alpha"]),
    ({"query": "ALP"}, ["alpha"]),
    ({"query": "weather"}, ["beta_x"]),
    ({"query": "ÜNÏ"}, ["betazx"]),
    ({"query": "health"}, ["delta", "betazx", "beta_x", "alpha"]),
    ({"query": "Mood"}, ["gamma"]),
    ({"query": "%"}, ["betazx", "alpha"]),
    ({"query": "_"}, ["beta_x"]),
    ({"query": "beta_"}, ["beta_x"]),
    ({"query": "\\"}, ["betazx"]),
    ({"query": "oneother"}, []),
    ({"query": "/"}, []),
    ({"query": ""}, ["delta", "gamma", "betazx", "beta_x", "alpha"]),
    ({"keyword": "health"}, ["alpha"]),
    ({"keyword": "two words"}, ["alpha"]),
    ({"keyword": "two"}, []),
    ({"keyword": "%"}, []),
    ({"label": "mood"}, ["gamma"]),
    ({"label": "moo"}, []),
    ({"label": "health", "keyword": "health", "query": "of"}, ["alpha"]),
]


async def test_a_search_finds_what_it_says(shared_api, listed):
    assert len(listed) == 5
    assert [(search, await names(shared_api, **search)) for search, _ in FOUND] == FOUND


def token_of(text):
    return base64.urlsafe_b64encode(text.encode()).decode()


WRONG_TOKENS = [
    *("", "é", "AAAA", "=", "a", token_of("|"), token_of("now|then"), token_of("2026-01-01|x"), token_of("a|b|c"))
]


async def refusals(api, cases):
    """The statuses and pointers by which parameters of the listing are refused."""
    answers = {case: await api.get("/v1/entries", params=dict([case])) for case in cases}
    return {case: (answer.status_code, *pointers(answer)) for case, answer in answers.items()}


async def test_a_parameter_that_is_none_is_refused(shared_api):
    texts = product(["query", "keyword", "label"], ["\0", "a\nb", "\x7f", "x" * 256])
    tokens = product(["page_token"], WRONG_TOKENS)
    limits = product(["limit"], ["0", "201", "-1", "1.5", "many", ""])
    told = await refusals(shared_api, [*texts, *tokens, *limits])
    assert told == {(name, text): (422, f"/{name}") for name, text in told}


async def test_a_tenant_lists_its_own_entries_and_those_shown_to_it(database_url):
    owner = await create_key(database_url, "owner", "provider")
    readers = {tenant: await create_key(database_url, tenant, "consumer") for tenant in ("owner", "named", "stranger")}
    operator = await create_key(database_url, "elsewhere", "operator")
    async with running_app(database_url) as api:
        for name, visibility in (("hidden", "private"), ("open", "all"), ("shown", {"tenants": ["named", "x"]})):
            await publish(api, example_entry(name=name, visibility=visibility), **owner)

        async def seen_by(headers):
            answer = await api.get("/v1/entries", headers=headers)
            return [head["name"] for head in answer.json()["items"]]

        assert await seen_by(owner) == await seen_by(readers["owner"]) == ["shown", "open", "hidden"]
        assert await seen_by(operator) == ["shown", "open", "hidden"]
        assert await seen_by(readers["named"]) == ["shown", "open"]
        assert await seen_by(readers["stranger"]) == ["open"]


async def test_two_tenants_may_use_one_name(database_url):
    keys = [await create_key(database_url, tenant, "provider") for tenant in ("one", "other")]
    async with running_app(database_url) as api:
        heads = [await publish(api, example_entry(name="same"), **key) for key in keys]
    assert [head["tenant"] for head in heads] == ["one", "other"]


@pytest.mark.long
async def test_a_page_has_at_most_two_megabytes(database_url):
    owner = await create_key(database_url, "owner", "provider")
    async with running_app(database_url) as api:
        for place in range(25):
            text = "\x01" * 20_000 if place % 2 else "x" * 20_000  # as JSON, the first take six bytes a character
            await publish(api, example_entry(name=f"e{place}", description=text), **owner)
        found, params = [], {"limit": 200}
        while params:
            answer = await api.get("/v1/entries", params=params, headers=owner)
            assert len(answer.content) <= 2_000_000
            found += [head["name"] for head in answer.json()["items"]]
            token = answer.json()["next_page_token"]
            params = {"limit": 200, "page_token": token} if token else {}
    assert found == [f"e{place}" for place in range(24, -1, -1)]


async def test_the_length_of_a_page_does_not_tell_how_many_tenants_are_named(database_url):
    owner = await create_key(database_url, "owner", "provider")
    lab = await create_key(database_url, "lab", "provider")
    hidden = ["lab", *(f"{place:03}{'x' * 250}" for place in range(999))]
    async with running_app(database_url) as api:
        for place in range(9):
            await publish(api, example_entry(name=f"e{place}", visibility={"tenants": hidden}), **owner)
        seen = (await api.get("/v1/entries", params={"limit": 200}, headers=lab)).json()
        own = (await api.get("/v1/entries", params={"limit": 200}, headers=owner)).json()
    assert (len(seen["items"]), seen["next_page_token"]) == (9, None)
    assert {tuple(head["visibility"]["tenants"]) for head in seen["items"]} == {("lab",)}
    assert len(own["items"]) < 9


async def test_no_more_than_a_thousand_tenants_can_be_named(api):
    many = {"tenants": [f"t{place}" for place in range(1_001)]}
    refused = await api.post("/v1/entries", json=example_entry(name="crowd", visibility=many))
    head = await publish(api, example_entry(name="crowd"))
    changed = await api.patch(f"/v1/entries/{head['id']}", json={"visibility": many})
    for answer in (refused, changed):
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/visibility/tenants")
