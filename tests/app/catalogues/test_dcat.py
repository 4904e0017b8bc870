"""Datasets in DCAT: the same for everyone who sees an entry, no more than the API says, and only what may be had."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.catalogues import model, service
from app.catalogues.api import rdf, routes
from app.tenants.model import RequiredPrivacy, TenantPolicy
from tests.answers import pointers
from tests.app.advice.test_views import guarded
from tests.app.catalogues.harvesting import harvested, nodes_of
from tests.app.entries.test_worth import entry as valued_entry
from tests.app.entries.test_worth import valued
from tests.app.requests.asking import CONFIGURATIONS, requested
from tests.service import example_entry, publish, tenants_of

DQV = "dqv:hasQualityMeasurement"


async def described(api, key, head, form="jsonld", **asked):
    answer = await api.get(f"/datasets/{head['id']}.{form}", params=asked, headers=key)
    assert answer.status_code == 200, answer.text
    return answer


def offers(answer):
    graph = answer.json()["@graph"]
    return {node["dct:identifier"]: node for node in graph if node["@type"] == ["dcat:Distribution"]}


async def test_a_catalogue_has_the_entries_that_its_caller_lists(database_url):
    seen = {"private": "private", "all": "all", "named": {"tenants": ["stranger"]}, "foreign": {"tenants": ["x"]}}
    async with guarded(database_url) as (api, _, keys):
        for name, visibility in seen.items():
            await publish(api, example_entry(name=name, visibility=visibility), **keys["owner"])
        for who, key in keys.items():
            heads = (await api.get("/v1/entries", headers=key)).json()["items"]
            datasets = nodes_of(await harvested(api, key, limit=1), "dcat:Dataset")
            assert {one["dct:identifier"]: one["dcat:version"] for one in datasets.values()} == {
                head["id"]: str(head["version"]) for head in heads
            }, who
            for head in heads:
                assert (await described(api, key, head)).status_code == 200
        private = next(head for head in (await listed_by(api, keys["owner"])) if head["visibility"] == "private")
        for path in (f"/datasets/{private['id']}", f"/datasets/{private['id']}.ttl"):
            assert (await api.get(path, headers=keys["stranger"])).status_code == 404


async def listed_by(api, key):
    return (await api.get("/v1/entries", headers=key)).json()["items"]


async def test_a_version_that_awaits_its_sign_off_is_harvested_only_by_those_who_see_it(database_url):
    async with tenants_of(database_url) as tenants:
        await tenants.set_policy("owner", TenantPolicy(demands_sign_off=True))
    async with guarded(database_url) as (api, _, keys):
        await publish(api, example_entry(visibility="all"), **keys["owner"])
        seen = {who: len(nodes_of(await harvested(api, key), "dcat:Dataset")) for who, key in keys.items()}
    assert seen == {"owner": 1, "operator": 1, "consumer": 0, "stranger": 0, "other provider": 0}


async def test_everyone_reads_the_same_of_an_entry_and_only_numbers_that_the_api_says(database_url):
    async with guarded(database_url) as (api, worker, keys):
        measured = valued_entry("measured")
        model_of_it = {"model": "boosting", "auc": 0.8, "low": 0.7, "high": 0.9, "raw_auc": 0.9}
        measured["configurations"][0] |= {"measured": model_of_it, "suppressed": 6}
        head = await publish(api, measured, **keys["owner"])
        await valued(api, worker, keys["stranger"], head)
        for form in ("ttl", "jsonld"):
            texts = {(await described(api, key, head, form)).content for key in keys.values()}
            assert len(texts) == 1
        worth = (await api.get(f"/v1/entries/{head['id']}/worth", headers=keys["stranger"])).json()["items"]
        schema = (await api.get(f"/v1/entries/{head['id']}", headers=keys["stranger"])).json()["schema"]
        shown = offers(await described(api, keys["stranger"], head))
    of_label = {one["configuration"]: one["expected"]["auc"] for one in worth if one["label"] == "default"}
    for one in schema["configurations"]:
        values = [
            (value["dqv:isMeasurementOf"]["@id"], value["dqv:value"]["@value"]) for value in shown[one["id"]][DQV]
        ]
        numbers = {name.rpartition("#")[2]: float(number) for name, number in values}
        said = {"k": one["privacy"]["k"]}
        said |= {"auc": of_label[one["id"]]} if one["id"] in of_label else {}
        said |= {"kept": one["measured"]["share"]} if "measured" in one else {}
        assert numbers == said
    assert "keeps 75\N{NO-BREAK SPACE}% of what it reaches" in shown["fine"]["dct:description"]
    assert "suppressed" not in json.dumps(shown)


async def test_a_configuration_is_offered_if_and_only_if_it_may_be_requested(database_url):
    async with tenants_of(database_url) as tenants:
        await tenants.set_policy("owner", TenantPolicy(RequiredPrivacy(at_least={"k": 5.0})))
    async with guarded(database_url, require_privacy="k=3") as (api, _, keys):
        configurations = [*CONFIGURATIONS, {"id": "c04", "maskings": {"age": "age-2"}}]
        entry = example_entry(visibility="all", configurations=[one for one in configurations if one["id"] != "c03"])
        head = await publish(api, entry, **keys["owner"])
        answers = {
            one["id"]: await requested(api, keys, head, require={}, configuration=one["id"])
            for one in entry["configurations"]
        }
        shown = offers(await described(api, keys["stranger"], head))
    assert {name for name, answer in answers.items() if answer.status_code == 201} == shown.keys() == {"c01", "c02"}


async def test_an_entry_lists_a_bounded_number_of_offers_those_with_the_best_models_first(database_url, monkeypatch):
    monkeypatch.setattr(model, "MOST_OFFERS", 2)
    async with guarded(database_url) as (api, worker, keys):
        entry = valued_entry("many")
        entry["configurations"][:0] = [entry["configurations"][2] | {"id": f"more {place}"} for place in range(9)]
        head = await publish(api, entry, **keys["owner"])
        assert offers(await described(api, keys["stranger"], head)).keys() == {"more 0", "more 1"}
        await valued(api, worker, keys["stranger"], head)
        answer = await described(api, keys["stranger"], head)
        worth = (await api.get(f"/v1/entries/{head['id']}/worth", headers=keys["stranger"])).json()["items"]
    best = {one["configuration"] for one in worth}
    assert len(offers(answer)) == 2
    assert offers(answer).keys() <= best
    [dataset] = [node for node in answer.json()["@graph"] if node["@type"] == ["dcat:Dataset"]]
    assert "requested: 12, with k of at least" in dataset["dct:description"]
    assert "; 2 of them are listed." in dataset["dct:description"]


async def test_a_child_process_makes_the_same_of_large_entries(database_url, monkeypatch):
    async with guarded(database_url) as (api, _, keys):
        head = await publish(api, example_entry(visibility="all", license="CC0-1.0"), **keys["owner"])
        paths = ["/catalog.ttl", *(f"/datasets/{head['id']}.{form}" for form in ("ttl", "jsonld", "croissant.json"))]
        here = [(await api.get(path, headers=keys["stranger"])).content for path in paths]
        monkeypatch.setattr(routes, "FEW_OFFERS", 0)
        there = [(await api.get(path, headers=keys["stranger"])).content for path in paths]
        unlicensed = await publish(api, example_entry(name="b", visibility="all", license=""), **keys["owner"])
        refused = await api.get(f"/datasets/{unlicensed['id']}.croissant.json", headers=keys["stranger"])
    assert there == here
    assert (refused.status_code, pointers(refused)) == (422, ["/license"])


@pytest.mark.parametrize("limit", ["PAGE_OFFERS", "PAGE_CELLS"])
async def test_a_page_ends_before_it_is_too_long_but_has_an_entry(database_url, monkeypatch, limit):
    async with guarded(database_url) as (api, _, keys):
        for name in "abc":
            await publish(api, example_entry(name=name, visibility="all"), **keys["owner"])
        monkeypatch.setattr(service, limit, 4)  # each has two configurations of one attribute
        pages = await harvested(api, keys["stranger"])
        assert [len(nodes_of([page], "dcat:Dataset")) for page in pages] == [2, 1]
        monkeypatch.setattr(service, limit, 0)
        pages = await harvested(api, keys["stranger"])
        assert [len(nodes_of([page], "dcat:Dataset")) for page in pages] == [1, 1, 1]
        assert len(nodes_of(pages, "dcat:Dataset")) == 3


async def test_what_is_asked_wrongly_is_refused_with_its_place(database_url):
    async with guarded(database_url) as (api, _, keys):
        cases = {
            "/page_token": {"page_token": "'; DROP TABLE entry"},
            "/limit": {"limit": 201},
            "/profile": {"profile": "dcat-us"},
            "/sort": {"sort": "created_at"},
        }
        for pointer, asked in cases.items():
            answer = await api.get("/catalog.ttl", params=asked, headers=keys["stranger"])
            assert (answer.status_code, pointers(answer)) == (422, [pointer])
        for host in ('a"b', "a>b", "a b", "", "a/../b", "x\u00e9", "a:b", "a:999999"):
            answer = await api.get("/catalog.ttl", headers=keys["stranger"] | {"Host": host.encode()})
            assert answer.status_code == 400, host
        for entry_id in ("x", "00000000-0000-0000-0000-000000000000"):
            for ending in ("", ".ttl", ".jsonld"):
                assert (await api.get(f"/datasets/{entry_id}{ending}", headers=keys["stranger"])).status_code == 404


async def test_permanent_addresses_have_the_preferred_form_which_is_sent_once(database_url):
    async with guarded(database_url) as (api, _, keys):
        head, key = await publish(api, example_entry(visibility="all"), **keys["owner"]), keys["stranger"]
        for path in ("/catalog", f"/datasets/{head['id']}"):
            texts = {form: (await api.get(f"{path}.{form}", headers=key)).content for form in ("ttl", "jsonld")}
            for accept, form in (("*/*", "ttl"), ("application/ld+json", "jsonld"), ("image/png," * 200, "ttl")):
                read = await api.get(path, headers=key | {"Accept": accept})
                assert (read.status_code, read.content) == (200, texts[form])
                assert read.headers["content-type"].startswith(
                    {"ttl": "text/turtle", "jsonld": "application/ld+json"}[form]
                )
                assert read.headers["Vary"].startswith("Accept")
            again = await api.get(f"{path}.jsonld", headers=key | {"If-None-Match": f'{read.headers["ETag"]}, "x"'})
            assert again.status_code == 200
            again = await api.get(f"{path}.ttl", headers=key | {"If-None-Match": read.headers["ETag"]})
            assert (again.status_code, again.content) == (304, b"")


@given(st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"])))
def test_a_text_in_turtle_is_read_as_it_was_written(text):
    written = rdf.turtle([{"@id": "x:y", "dct:title": text}]).decode()
    literal = written.rpartition("dct:title ")[2].removesuffix(" .\n")
    assert literal.isprintable()
    assert json.loads(literal) == text  # JSON has the same escapes below U+10000


def test_characters_beyond_are_escaped_by_eight_digits():
    assert '"\\U000E0001\U0001f600"' in rdf.turtle([{"@id": "x:y", "dct:title": "\U000e0001\U0001f600"}]).decode()


@pytest.mark.parametrize("address", ["https://x.example/a%20b?c=d#e", "http://[::1]:80/", "https://x.example"])
def test_an_address_of_the_web_can_be_an_iri(address):
    assert rdf.is_web_address(address)


@pytest.mark.parametrize(
    "text",
    ["", "CC0-1.0", "javascript:alert(1)", "https://x.example/a b", "https://x.example/>", "https://x.example/\u202e",
     "https://x.example/%zz", "https://x.example/\n", "http://", "file:///etc/passwd", 'https://"',
     "http://[", "https://a[b/", "https://x.example:port/"],
)  # fmt: skip
def test_no_other_text_can(text):
    assert not rdf.is_web_address(text)
