"""The catalogue as rdflib, the shapes of DCAT-AP and CKAN's harvester read it, with hostile entries in it."""

import json

import pytest

from aegis_sdk.wire.examples import EXAMPLE_GENERATED, EXAMPLE_HOLDOUT
from tests.app.advice.test_views import guarded
from tests.app.catalogues.harvesting import harvested, nodes_of
from tests.app.entries.test_worth import entry as valued_entry
from tests.app.entries.test_worth import valued
from tests.service import example_entry, publish
from tests.standards.judging import judged, published

HOSTILE = 'a "quote" \\u0041 \\ \u202e>left< <http://x.example/> \t\r\n\x01\x7f {} | ^ ` \U0001f600 @en ^^xsd:int .'
DCT, DCAT = "http://purl.org/dc/terms/", "http://www.w3.org/ns/dcat#"
HEALTH = "http://healthdataportal.eu/ns/health#"
VIOLATION = "http://www.w3.org/ns/shacl#Violation"
PROFILES = ("dcat-ap", "healthdcat-ap")


def entries():
    generated = example_entry(visibility="all", format=2, holdout=EXAMPLE_HOLDOUT, name="generated")
    generated["configurations"].append(EXAMPLE_GENERATED)
    hostile = example_entry(visibility="all", name="hostile", title=HOSTILE, description=HOSTILE, license=HOSTILE)
    hostile |= {"keywords": ['"', "a b", "\u202e"]}
    for place, one in enumerate(hostile["configurations"]):
        one["id"] = f'c#"> {place}\\\u202e'
    bare = example_entry(visibility="all", name="bare", title="", description="", license="", keywords=[])
    return [generated, hostile, bare, valued_entry("valued", license="https://x.example/licence?a=1#b")]


@pytest.fixture
async def catalogue(database_url, tmp_path):
    """By profile the Turtle files of all pages; the pages as JSON-LD; and the published heads by name."""
    async with guarded(database_url) as (api, worker, keys):
        heads = {entry["name"]: await publish(api, entry, **keys["owner"]) for entry in entries()}
        await valued(api, worker, keys["stranger"], heads["valued"])
        files, pages = {}, {}
        for profile in PROFILES:
            pages[profile] = await harvested(api, keys["stranger"], profile=profile, limit=3)
            files[profile] = []
            for place, (address, page) in enumerate(pages[profile]):
                (tmp_path / f"{profile}-{place}.jsonld").write_text(json.dumps(page))
                answer = await api.get(address.replace(".jsonld", ".ttl"), headers=keys["stranger"])
                files[profile].append(tmp_path / f"{profile}-{place}.ttl")
                files[profile][-1].write_bytes(answer.content)
    assert [len(of_profile) for of_profile in files.values()] == [2, 2]
    return files, pages, heads


def harvested_by_ckan(profile, path):
    return judged("ckan_datasets.py", profile, path, environment="ckan")


def texts(triples, predicate):
    return {subject: value for subject, name, value, _ in triples if name == predicate}


async def test_both_forms_are_one_graph_with_what_was_published(catalogue):
    files, _, heads = catalogue
    for path in files["healthdcat-ap"]:
        turtle, json_ld = judged("rdf_triples.py", path, path.with_suffix(".jsonld"))
        # Only the addresses of the page itself name its form.
        named = json.loads(json.dumps(turtle).replace("catalog.ttl", "catalog.jsonld"))
        assert len(turtle) > 50
        assert sorted(named) == json_ld
    graph = [triple for path in files["dcat-ap"] for triple in judged("rdf_triples.py", path)[0]]
    hostile = f"http://127.0.0.1/datasets/{heads['hostile']['id']}"
    assert texts(graph, f"{DCT}title")[hostile] == HOSTILE
    assert texts(graph, f"{DCT}description")[hostile].startswith(HOSTILE)
    assert texts(graph, f"{DCT}title")[f"http://127.0.0.1/datasets/{heads['bare']['id']}"] == "bare"
    assert HOSTILE in texts(graph, "http://www.w3.org/2000/01/rdf-schema#label").values()
    named = {value for subject, value in texts(graph, f"{DCT}identifier").items() if subject.startswith(f"{hostile}#")}
    assert named == {one["id"] for one in entries()[1]["configurations"]}
    assert "x.example/>" not in {subject for subject, *_ in graph}


async def test_no_shape_of_dcat_ap_is_violated(catalogue):
    files, _, _ = catalogue
    shapes = published("dcat-ap-3")
    for profile, paths in files.items():
        for path in paths:
            found = judged("shacl_results.py", path, shapes / "shapes.ttl", shapes / "range.ttl")
            assert found == [], (profile, path.read_text())
            found = judged("shacl_results.py", path, shapes / "mdr-vocabularies.shape.ttl")
            assert [one for one in found if one[0] == VIOLATION] == []


async def test_a_missing_title_and_an_untyped_value_would_be_violations(catalogue):
    files, _, _ = catalogue
    path, shapes = files["dcat-ap"][0], published("dcat-ap-3")
    text = path.read_text()
    path.write_text(
        text.replace("dct:title ", "rdfs:label ").replace("a skos:Concept, dct:RightsStatement", "a skos:Concept")
    )
    found = judged("shacl_results.py", path, shapes / "shapes.ttl", shapes / "range.ttl")
    assert {one[2] for one in found} == {f"{DCT}title", f"{DCT}accessRights"}


async def test_ckan_harvests_every_dataset_with_its_configurations_and_the_next_page(catalogue):
    files, pages, heads = catalogue
    first, second = (
        judged("ckan_datasets.py", "euro_dcat_ap_3", path, environment="ckan") for path in files["dcat-ap"]
    )
    assert [first["next"], second["next"]] == [pages["dcat-ap"][1][0].replace(".jsonld", ".ttl"), None]
    same = harvested_by_ckan("euro_dcat_ap_3", files["dcat-ap"][0].with_suffix(".jsonld"))
    assert {one["title"] for one in same["datasets"]} == {one["title"] for one in first["datasets"]}
    assert same["next"] == pages["dcat-ap"][1][0]
    by_id = {
        next(extra["value"] for extra in one["extras"] if extra["key"] == "identifier"): one
        for one in (*first["datasets"], *second["datasets"])
    }
    assert by_id.keys() == {head["id"] for head in heads.values()}
    assert all(one["title"] for one in by_id.values())
    offers = nodes_of(pages["dcat-ap"], "dcat:Distribution")
    resources = {one["uri"]: one for dataset in by_id.values() for one in dataset["resources"]}
    assert resources.keys() == offers.keys()
    assert {one["format"] for one in resources.values()} == {"CSV"}
    # CKAN drops measurements, so they are in words, too.
    described = [one["description"] for one in by_id[heads["valued"]["id"]]["resources"]]
    assert described[0].startswith("Promises k of at least 2. A model of default should reach AUC 0.")


async def test_ckan_reads_the_numbers_of_the_health_profile(catalogue):
    files, _, heads = catalogue
    judgements = [harvested_by_ckan("euro_health_dcat_ap", path) for path in files["healthdcat-ap"]]
    records = {one["title"]: one.get("number_of_records") for page in judgements for one in page["datasets"]}
    assert records["bare"] == heads["bare"]["records"]
    assert None not in records.values()
