"""What one consumer has of one table, over versions and entries: said, refused, and accepted by name; with the SDK."""

import asyncio

import pytest

from aegis_sdk import Client, ConflictError
from aegis_sdk.wire import EXAMPLE_ENTRY, DeliveryDescriptor
from tests.in_thread import own_database, serving
from tests.service import create_key

AGE = EXAMPLE_ENTRY["attributes"][0]
ODD = {"id": "odd", "domain": ["even", "odd"], "mapping": [0, 1] * 4}
ENTRY = EXAMPLE_ENTRY | {
    "visibility": "all",
    "attributes": [AGE | {"maskings": [*AGE["maskings"], ODD]}],
    "configurations": [
        {"id": "bands", "maskings": {"age": "age-2"}, "privacy": {"k": 5}},
        {"id": "none", "maskings": {"age": "drop"}, "privacy": {"k": 50}},
        {"id": "odd", "maskings": {"age": "odd"}, "privacy": {"k": 5}},
    ],
}


@pytest.fixture(scope="module")
def parties(postgres, migrated):
    """The clients of a provider, of its administrator, and of two consumers."""
    who = {
        "hospital": "provider",
        "ward": "administrator",
        "insurer": "consumer",
        "lab": "consumer",
        "desk": "operator",
    }
    with own_database(postgres, migrated) as database_url:

        async def keys():
            return {
                name: await create_key(database_url, "hospital" if name == "ward" else name, role)
                for name, role in who.items()
            }

        made = asyncio.run(keys())
        with serving(database_url) as url:
            clients = {name: Client(url, one["Authorization"].split()[1]) for name, one in made.items()}
            yield clients
            for client in clients.values():
                client.close()


@pytest.fixture
def head(parties, request):
    name = request.node.name[:60]
    return parties["hospital"].publish(ENTRY | {"name": name, "table": name}, accept_small_counts=True)


def wanted(parties, consumer, head, configuration):
    """The id of a consumer's advised request for a configuration of the latest version."""
    asked = {"purpose": "a study", "contact": "me", "terms": head.terms, "configuration": configuration}
    return parties[consumer].requests.create(head.id, "g3", **asked, wait=60).id


def granted(parties, consumer, head, configuration, **others):
    return parties["hospital"].requests.approve(wanted(parties, consumer, head, configuration), **others)


def refusal(parties, consumer, head, configuration):
    with pytest.raises(ConflictError) as caught:
        granted(parties, consumer, head, configuration)
    assert caught.value.code == "not_composed"
    return caught.value


def test_over_versions_and_entries_of_a_table_a_consumer_gets_what_is_nested_unless_the_provider_accepts_more(
    parties, head, aegis, monkeypatch
):
    hospital = parties["hospital"]
    first = granted(parties, "insurer", head, "bands")
    file = {
        "url": "https://store.example/1.csv",
        "media_type": "text/csv",
        "size": 9,
        "sha256": 64 * "0",
        "records": 100,
    }
    agreed = {"configuration": "bands", "entry_digest": first.entry.digest, "privacy": {"k": 5}}
    hospital.requests.deliver(first.id, DeliveryDescriptor(**file, **agreed))
    assert first.composition is None
    second, tag = ENTRY | {"name": head.name, "table": head.name, "title": "2"}, hospital.etag(head.id)
    head = hospital.update(head.id, second, if_match=tag, accept_small_counts=True)

    nested = parties["insurer"].requests.get(wanted(parties, "insurer", head, "none")).composition
    (had,) = nested.granted
    assert (nested.policy, nested.kept, had.configuration, had.version, had.delivered, had.relation) == (
        "nested",
        True,
        "bands",
        1,
        True,
        "coarser",
    )
    refused = refusal(parties, "insurer", head, "odd")
    assert refused.allowed == "bands"
    assert (
        f"insurer has bands of {head.name}, version 1. odd is not known to be nested in what it has" in refused.detail
    )
    assert granted(parties, "lab", head, "odd").state == "approved"  # which has nothing else of it

    other = hospital.publish(ENTRY | {"name": f"{head.name}-2", "table": head.name}, accept_small_counts=True)
    request_id = wanted(parties, "insurer", other, "odd")
    monkeypatch.setenv("AEGIS_URL", hospital.url)
    monkeypatch.setenv("AEGIS_API_KEY", hospital._http.headers["Authorization"][7:])
    code, _, complaint = aegis("requests", "approve", request_id)
    assert (code, "not_composed" in complaint) == (2, True)
    assert aegis("requests", "approve", request_id, "--accept-composition")[0] == 0
    shown = aegis("requests", "show", request_id)[1]
    assert f"insurer has bands of {head.name} v1 (delivered " in shown
    assert "): not known to be nested: " in shown
    assert hospital.requests.get(request_id).changes[-1].beside == f"bands of {head.name}, version 1"
    record = next(one for one in parties["desk"].audit.records(request_id=request_id) if one.value is not None)
    assert (record.action, record.value) == ("request.approve", f"beside bands of {head.name}, version 1")


def test_one_allows_only_what_the_consumer_has_and_any_everything(parties, head):
    administration, hospital = parties["ward"].administration, parties["hospital"]
    granted(parties, "lab", head, "odd")
    assert administration.set_policy(composition="one").composition == "one"
    assert refusal(parties, "lab", head, "none").allowed == "odd"
    assert granted(parties, "lab", head, "odd").composition.granted[0].relation == "same"
    request_id = wanted(parties, "lab", head, "odd")
    with pytest.raises(ConflictError, match="The policy 'one' allows only what it has"):
        hospital.requests.counter(request_id, "none")
    hospital.requests.counter(request_id, "none", accept_composition=True)
    assert parties["lab"].requests.accept(request_id).changes[-1].beside == f"odd of {head.name}, version 1"
    administration.set_policy(composition="any")
    assert granted(parties, "lab", head, "bands").state == "approved"
    assert administration.set_policy().composition is None
