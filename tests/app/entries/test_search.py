"""Searches of the listing: what each finds, for whom, and at which version."""

from itertools import product

import psycopg
import pytest

from aegis_sdk.wire import PRIVACY_CRITERIA
from app.entries.store import searches as store
from app.tenants.model import TenantPolicy
from tests.answers import pointers
from tests.service import ACCEPTED, create_key, example_entry, publish, running_app, tenants_of


def entry(name, *, attributes=("age",), privacy=(), **changes):
    """The example with these attributes, and with a configuration for each mapping of promised numbers."""
    made = example_entry(name=name, **changes)
    made["attributes"] = [made["attributes"][0] | {"name": each} for each in attributes]
    bare = {"maskings": dict.fromkeys(attributes, "identity")}
    made["configurations"] = [
        {"id": f"c{place}"} | bare | ({"privacy": numbers} if numbers else {})
        for place, numbers in enumerate(privacy or ({},))
    ]
    return made


@pytest.fixture(scope="module")
async def searched(shared_api):
    """Entries, oldest first, in an otherwise empty catalogue."""
    for made in (
        entry(
            "kidney_a", title="Diabetes and Kidneys", keywords=["renal care"], privacy=({"k": 5}, {"k": 20, "t": 0.4})
        ),
        entry(
            "heart", title="Heart", keywords=["care", "50%"], attributes=("age", "blood pressure"), license="CC-BY-4.0"
        ),
        entry(
            "kidneyxa", title="بيانات السكري في المستشفى", keywords=["糖尿病"], privacy=({"t": 0.2, "epsilon": 1e-9},)
        ),
        entry("street", title="ΟΔΟΣ 🩺", keywords=["naïve"], attributes=("ålder",), privacy=({"k": 3}, {})),
    ):
        await publish(shared_api, made)


async def names(api, headers=None, **params):
    answer = await api.get("/v1/entries", params=params, headers=headers)
    assert answer.status_code == 200, answer.text
    return [head["name"] for head in answer.json()["items"]]


FOUND = [
    ({"query": "care kidney"}, ["kidney_a"]),
    ({"query": " KIDNEYS  diab "}, ["kidney_a"]),
    ({"query": "renal heart"}, []),
    ({"query": "renalcare"}, []),
    ({"query": "kidney care care"}, ["kidney_a"]),
    ({"query": "kidney_"}, ["kidney_a"]),
    ({"query": "y_a kidney"}, ["kidney_a"]),
    ({"query": "0%"}, ["heart"]),
    ({"query": "%"}, ["heart"]),
    ({"query": "%%%"}, []),
    ({"query": "\\"}, []),
    ({"query": "السكري بيانات"}, ["kidneyxa"]),
    ({"query": "尿"}, ["kidneyxa"]),
    ({"query": "尿病"}, ["kidneyxa"]),
    ({"query": "糖\u3000病"}, ["kidneyxa"]),
    ({"query": "🩺"}, ["street"]),
    ({"query": "NAÏVE"}, ["street"]),
    ({"query": "nai"}, []),
    ({"query": "οδο"}, ["street"]),
    ({"query": "k"}, ["kidneyxa", "kidney_a"]),
    ({"query": "\u00a0"}, ["street", "kidneyxa", "heart", "kidney_a"]),
    ({"attribute": "age"}, ["kidneyxa", "heart", "kidney_a"]),
    ({"attribute": "blood pressure"}, ["heart"]),
    ({"attribute": "blood"}, []),
    ({"attribute": "ålder"}, ["street"]),
    ({"attribute": ""}, []),
    ({"attribute": "care"}, []),
    ({"license": "CC-BY-4.0"}, ["heart"]),
    ({"license": "cc-by-4.0"}, []),
    ({"require": "k=3"}, ["street", "kidney_a"]),
    ({"require": "k=20"}, ["kidney_a"]),
    ({"require": "k=20.5"}, []),
    ({"require": "t=0.2"}, ["kidneyxa"]),
    ({"require": " t = .3999 "}, ["kidneyxa"]),
    ({"require": "t=0.4"}, ["kidneyxa", "kidney_a"]),
    ({"require": "epsilon=0.000000001"}, ["kidneyxa"]),
    ({"require": "epsilon=0.0000000009"}, []),
    ({"require": "l=1"}, []),
    ({"require": ""}, ["street", "kidneyxa", "heart", "kidney_a"]),
    (
        {"require": "k=5", "query": "kid", "attribute": "age", "label": "health", "keyword": "renal care"},
        ["kidney_a"],
    ),
    ({"require": "k=5", "query": "kid", "attribute": "age", "label": "health", "keyword": "care"}, []),
]


@pytest.mark.usefixtures("searched")
@pytest.mark.parametrize("newest", [0, 1_000], ids=["by index", "among the newest"])
async def test_all_that_is_asked_for_is_found(shared_api, monkeypatch, newest):
    monkeypatch.setattr(store, "FIRST", newest)
    assert [(search, await names(shared_api, **search)) for search, _ in FOUND] == FOUND


async def test_a_text_that_no_entry_can_have_is_refused(shared_api):
    told = {}
    for parameter, text in product(["query", "attribute", "license", "require"], ["\0", "a\nb", "\x85", "x" * 301]):
        answer = await shared_api.get("/v1/entries", params={parameter: text})
        told[parameter, text] = answer.status_code, *pointers(answer)
    assert told == {case: (422, f"/{case[0]}") for case in told}


NO_GUARANTEES = [
    ("kk=5", "There is no privacy criterion kk; use k, l"),
    ("k", "give NAME=NUMBER"),
    ("k=-1", "give NAME=NUMBER"),
    ("k=nan", "give NAME=NUMBER"),
    ("k=5,k=6", "each name once"),
    ("k=5,t=0.2", "Give only one privacy requirement"),
]


async def test_what_is_no_guarantee_is_refused(shared_api):
    for text, said in NO_GUARANTEES:
        answer = await shared_api.get("/v1/entries", params={"require": text})
        assert (answer.status_code, pointers(answer)) == (422, ["/require"]), text
        assert said in answer.json()["errors"][0]["detail"], text


@pytest.mark.usefixtures("searched")
async def test_each_criterion_can_be_required(shared_api):
    found = {name: await names(shared_api, require=f"{name}=0") for name in PRIVACY_CRITERIA}
    assert [name for name, listed in found.items() if "heart" in listed] == []


@pytest.mark.usefixtures("searched")
@pytest.mark.parametrize("newest", [0, 1, 3, 1_000])
async def test_the_pages_of_a_search_are_its_entries_in_pieces(shared_api, monkeypatch, newest):
    monkeypatch.setattr(store, "FIRST", newest)
    seen, params = [], {"attribute": "age", "query": "a", "limit": 1}
    while params:
        answer = (await shared_api.get("/v1/entries", params=params)).json()
        seen += [head["name"] for head in answer["items"]]
        token = answer["next_page_token"]
        params = params | {"page_token": token} if token else None
    assert seen == ["kidneyxa", "heart", "kidney_a"]


@pytest.mark.parametrize("newest", [0, 1_000], ids=["by index", "among the newest"])
async def test_a_search_finds_only_what_its_caller_sees(database_url, monkeypatch, newest):
    monkeypatch.setattr(store, "FIRST", newest)
    owner = await create_key(database_url, "owner", "provider")
    readers = {name: await create_key(database_url, name, "consumer") for name in ("owner", "named", "stranger")}
    operator = await create_key(database_url, "elsewhere", "operator")
    search = {"query": "wanted", "attribute": "age", "require": "k=2"}
    async with running_app(database_url) as api:

        async def seen():
            return [await names(api, key, **search) for key in (owner, readers["owner"], operator)], [
                await names(api, readers[name], **search) for name in ("named", "stranger")
            ]

        for name, visibility in (("private", "private"), ("open", "all"), ("shown", {"tenants": ["named", "x"]})):
            made = entry(name, title="Wanted", visibility=visibility, privacy=({"k": 2},))
            head = await publish(api, made, **owner)
        assert await seen() == ([["shown", "open", "private"]] * 3, [["shown", "open"], ["open"]])
        assert await names(api, readers["named"]) == ["shown", "open"]
        path = f"/v1/entries/{head['id']}"
        await api.patch(path, json={"visibility": {"tenants": ["stranger"]}}, headers=owner)
        assert await seen() == ([["shown", "open", "private"]] * 3, [["open"], ["shown", "open"]])
        await api.patch(path, json={"visibility": "private"}, headers=owner)
        assert (await seen())[1] == [["open"], ["open"]]
        await api.delete(path, headers=owner)
        assert (await seen())[0] == [["open", "private"]] * 3


@pytest.mark.parametrize("newest", [0, 1_000], ids=["by index", "among the newest"])
async def test_a_search_reads_the_version_that_its_caller_is_shown(database_url, owner_url, monkeypatch, newest):
    monkeypatch.setattr(store, "FIRST", newest)
    keys = {role: await create_key(database_url, "owner", role) for role in ("provider", "reviewer", "consumer")}
    keys["other"] = await create_key(database_url, "stranger", "consumer")
    keys["operator"] = await create_key(database_url, "elsewhere", "operator")
    first = entry("table", title="first", visibility="all", privacy=({"k": 9},), attributes=("age",))
    second = entry("table", title="second", visibility="all", privacy=({"t": 0.1},), attributes=("size",))

    async def finders(api, **search):
        return {name for name, key in keys.items() if await names(api, key, **search)}

    insiders, outsiders = {"provider", "reviewer", "operator"}, {"consumer", "other"}
    old = ({"query": "first"}, {"query": "AGE"}, {"attribute": "age"}, {"require": "k=9"})
    new = ({"query": "second"}, {"query": "iz healt"}, {"attribute": "size"}, {"require": "t=0.1"})
    async with tenants_of(database_url) as tenants:
        await tenants.set_policy("owner", TenantPolicy(demands_sign_off=True))
    async with running_app(database_url) as api:
        path = f"/v1/entries/{(await publish(api, first, **keys['provider']))['id']}"

        async def sign():
            tag = (await api.get(path, headers=keys["reviewer"])).headers["ETag"]
            await api.put(f"{path}/sign-off", headers=keys["reviewer"] | {"If-Match": tag})

        assert [await finders(api, **search) for search in old] == [insiders] * 4
        await sign()
        assert [await finders(api, **search) for search in old] == [insiders | outsiders] * 4
        await api.put(path, json=second, headers=keys["provider"] | {"If-Match": "*"}, params=ACCEPTED)
        assert [await finders(api, **search) for search in old] == [outsiders] * 4
        assert [await finders(api, **search) for search in new] == [insiders] * 4
        await sign()
        assert [await finders(api, **search) for search in old] == [set()] * 4
        assert [await finders(api, **search) for search in new] == [insiders | outsiders] * 4
    with psycopg.connect(owner_url) as connection:
        rows = (
            "SELECT version, text, criterion FROM searched_version JOIN offered_privacy USING (version_id) ORDER BY 3"
        )
        text = "table\nsecond\nhealth\fhealth\nsize"
        assert connection.execute(rows).fetchall() == [(2, text, name) for name in ("columns", "records", "t")]
