"""What a counterpart must not be able to do: see more than in the API, keep the service busy, or send it elsewhere."""

import asyncio
import base64
import json
from uuid import uuid4

import jsonschema_rs
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from app.dataspace.jobs import Messenger
from app.platform.queue.queue import queue_app
from app.webhooks.jobs import EventSender
from tests.app.dataspace.test_negotiations import TERMINATED, accept, offered, verify
from tests.app.dataspace.test_transfers import started
from tests.app.requests.asking import entry
from tests.dataspace import BASE, SCHEMAS, Caller, hold_to_schema, message, new_pid
from tests.kept import database_at
from tests.service import publish, running_app

REQUEST = message("CatalogRequestMessage")


@pytest.fixture
async def head(guarded, keys):
    """An entry of each test's own."""
    return await publish(guarded, entry(), **keys["provider"])


def new_negotiation(trade, **changes):
    sent = message("ContractRequestMessage", consumerPid=new_pid(), offer=trade.offer())
    return sent | {"callbackAddress": trade.connector.url} | changes


async def refused(trade, path, content, status=400, **headers):
    """What the service says of a body that it must refuse."""
    sent = {"content": content} if isinstance(content, bytes) else {"json": content}
    headers = trade.keys["consumer"] | {"Content-Type": "application/json"} | headers
    answer = await trade.api.post(f"{BASE}{path}", headers=headers, **sent)
    assert answer.status_code == status, answer.text
    hold_to_schema(answer.json())
    return answer.json()


CYCLE = {
    "@id": "urn:a",
    "permission": [{"action": "use", "constraint": {"@id": "urn:b", "refersTo": {"@id": "urn:a"}}}],
}


async def test_messages_that_a_schema_does_not_allow_are_refused_with_their_places(trade):
    whole, offer = new_negotiation(trade), trade.offer()
    wrong = {
        "no context": ({name: member for name, member in whole.items() if name != "@context"}, "/@context"),
        "a foreign context alone": (whole | {"@context": ["https://evil.example/context.jsonld"]}, "/@context"),
        "a context that is no name": (whole | {"@context": [{"@vocab": "https://evil.example/"}]}, "/@context/0"),
        "many contexts": (whole | {"@context": whole["@context"] * 21}, "/@context"),
        "another type": (whole | {"@type": "TransferRequestMessage"}, "/@type"),
        "no offer": ({name: member for name, member in whole.items() if name != "offer"}, "/offer"),
        "an offer without rules": (whole | {"offer": {"@id": "urn:a", "@type": "Offer"}}, "/offer"),
        "a cycle of nodes": (whole | {"offer": CYCLE}, "/offer/@type"),
        "a long id": (whole | {"consumerPid": "x" * 300}, "/consumerPid"),
        "a NUL in an id": (whole | {"consumerPid": "a\0b"}, "/consumerPid"),
        "another dataset": (whole | {"offer": offer | {"target": f"urn:uuid:{uuid4()}"}}, "/offer/target"),
        "an id of the provider": (whole | {"providerPid": new_pid()}, "/providerPid"),
        "no callback": ({name: member for name, member in whole.items() if name != "callbackAddress"}, "/callback"),
    }

    async def is_refused(name):
        sent, place = wrong[name]
        said = await refused(trade, "/negotiations/request", sent)
        assert any(str(reason).startswith(place) for reason in said["reason"]), (name, said)

    for name in wrong:
        await is_refused(name)
    assert (
        await trade.api.get("/v1/requests", params={"entry": trade.head["id"]}, headers=trade.keys["consumer"])
    ).json()["items"] == []


async def test_contexts_besides_the_protocol_s_are_names(trade):
    with_more = {"@context": ["https://w3id.org/edc/dspace/v0.0.1", *REQUEST["@context"]]}
    assert (await trade.consumer.post("/catalog/request", REQUEST | with_more)).status_code == 200


async def test_long_deep_and_broken_bodies_are_refused(trade):
    await refused(trade, "/negotiations/request", b" " * 10_000_000, 413)
    await refused(trade, "/negotiations/request", b"[" * 200_000)
    await refused(trade, "/negotiations/request", b"{")
    await refused(trade, "/negotiations/request", b"[]")
    await refused(trade, "/catalog/request", REQUEST, 415, **{"Content-Type": "text/plain"})
    assert (await refused(trade, "/catalog/request", REQUEST | {"filter": ["x"]}))["reason"][1].startswith("/filter")


PRIVATE = [
    *(
        "http://10.0.0.7/dsp",
        "https://10.0.0.7/dsp",
        "https://[::1]/dsp",
        "https://localhost/dsp",
        "file:///etc/passwd",
    ),
    *("https://user:secret@connector.example/dsp", "https://connector.example/dsp?to=x", "urn:aegis:other"),
]


async def test_callbacks_to_private_addresses_are_refused(trade, shared_database_url):
    async with running_app(shared_database_url) as strict:
        said = [
            await refused(trade_at(strict, trade), "/negotiations/request", new_negotiation(trade, callbackAddress=url))
            for url in PRIVATE
        ]
    assert all(one["reason"][1].startswith("/callbackAddress") for one in said)


def trade_at(api, trade):
    return type(trade)(api, trade.keys, trade.worker, trade.messenger, trade.connector, trade.head, trade.consumer)


async def test_a_name_that_leads_into_a_private_network_is_sent_nothing(trade, shared_database_url):
    async def resolve(_host, _port):
        return ["203.0.113.7", "127.0.0.1"]

    process = await trade.negotiate(callbackAddress=trade.connector.url.replace("127.0.0.1", "connector.example"))
    async with database_at(shared_database_url) as database:
        sender = EventSender(allow_private=False, resolve=resolve)
        trade.messenger = Messenger(database, queue_app(shared_database_url), sender, None)
        await trade.act("provider", "approve")
    assert trade.connector.received == []
    assert await trade.state(process) == "REQUESTED"


async def test_a_message_carries_a_token_that_the_service_has_signed_for_this_callback(trade):
    process, _ = await trade.agreed()
    ((_, _, headers),) = [one for one in trade.connector.received if process["consumerPid"] in one[0]]
    scheme, _, jws = headers["authorization"].partition(" ")
    header, claims, signature = (base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in jws.split("."))
    keys = {key["kid"]: key["x"] for key in (await trade.api.get("/.well-known/aegis-keys.json")).json()["keys"]}
    public = keys[json.loads(header)["kid"]]
    key = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(public + "=" * (-len(public) % 4)))
    key.verify(signature, jws.rpartition(".")[0].encode())
    said = json.loads(claims)
    assert (scheme, json.loads(header)["typ"]) == ("Bearer", "aegis-dsp-callback")
    assert (said["aud"], said["sub"], said["exp"] - said["iat"]) == (trade.connector.url, process["providerPid"], 300)


async def test_an_entry_that_is_deleted_ends_its_negotiations_and_transfers(trade):
    process = await trade.transfer()
    read = await trade.api.get(f"/v1/entries/{trade.head['id']}", headers=trade.keys["provider"])
    gone = trade.keys["provider"] | {"If-Match": read.headers["ETag"]}
    assert (await trade.api.delete(f"/v1/entries/{trade.head['id']}", headers=gone)).status_code == 204
    assert await trade.state(process) == "TERMINATED"
    await trade.send()
    assert trade.connector.told(process["consumerPid"]) == ["termination"]
    await refused(trade, "/negotiations/request", new_negotiation(trade), 404)


async def test_a_version_that_is_not_there_is_unknown(trade):
    offer = trade.offer()
    for other in (
        offer["@id"].replace(":1:", ":7:"),
        f"{offer['@id']}x",
        "CD123:ACN0102:456",
    ):
        await refused(trade, "/negotiations/request", new_negotiation(trade, offer=offer | {"@id": other}), 404)


async def test_of_two_agreements_at_once_there_is_one(trade):
    sent = new_negotiation(trade)
    both = await asyncio.gather(*(trade.consumer.post("/negotiations/request", sent) for _ in range(4)))
    begun = {answer.json()["providerPid"] for answer in both if answer.status_code == 201}
    assert len(begun) == 1
    assert {answer.status_code for answer in both} <= {201, 400}
    process = await offered(trade)
    assert sorted(await asyncio.gather(*(accept(trade, process) for _ in range(4)))) == [200, 400, 400, 400]
    await trade.send()
    assert sorted(await asyncio.gather(*(verify(trade, process) for _ in range(4)))) == [200, 400, 400, 400]


async def test_an_agreement_has_one_open_transfer(trade):
    process = await started(trade)
    agreement = next(one["agreement"]["@id"] for _, one, _ in trade.connector.received if "agreement" in one)
    again = message("TransferRequestMessage", agreementId=agreement, format="HttpData-PULL", consumerPid=new_pid())
    again |= {"callbackAddress": trade.connector.url}
    await refused(trade, "/transfers/request", again)
    for wrong in ({"format": "HttpData-PUSH"}, {"dataAddress": {"@type": "DataAddress", "endpointType": "x"}}):
        await refused(trade, "/transfers/request", again | wrong)
    await refused(trade, "/transfers/request", again | {"agreementId": f"urn:aegis:agreement:{uuid4()}"}, 404)
    repeated = await trade.consumer.post("/transfers/request", again | {"consumerPid": process["consumerPid"]})
    assert repeated.json()["providerPid"] == process["providerPid"]


async def test_others_learn_nothing_of_a_process(trade):
    negotiation = await trade.negotiate()
    for who in ("other", "provider", "own"):
        caller = Caller(trade.api, trade.keys[who])
        assert (await caller.get(f"/negotiations/{negotiation['providerPid']}")).status_code == 404
        assert await caller.tell(TERMINATED, "/negotiations/{}/termination", negotiation) == 404
    for key in ({}, {"Authorization": "Bearer aegis_00000000_nobody"}, {"Authorization": "Basic eA=="}):
        caller = Caller(trade.api, key)
        assert (await caller.get(f"/negotiations/{negotiation['providerPid']}")).status_code == 404
        assert (await caller.post("/catalog/request", REQUEST)).status_code == 404
    assert (
        await trade.consumer.tell(TERMINATED, "/negotiations/{}/termination", negotiation | {"consumerPid": "x"}) == 400
    )
    assert await trade.state(negotiation) == "REQUESTED"


async def test_a_hidden_entry_is_in_no_catalogue(trade):
    hidden = await publish(trade.api, entry(visibility="private"), **trade.keys["provider"])
    named = await publish(trade.api, entry(visibility={"tenants": ["insurer"]}), **trade.keys["provider"])
    seen = {}
    for who in ("consumer", "other", "provider"):
        caller, ids = Caller(trade.api, trade.keys[who]), set()
        path = "/catalog/request"
        while path:
            answer = await caller.post(path, REQUEST)
            ids |= {one["@id"].removeprefix("urn:uuid:") for one in answer.json().get("dataset", [])}
            path = answer.links.get("next", {}).get("url", "").removeprefix(BASE)
        seen[who] = {"hidden": hidden["id"] in ids, "named": named["id"] in ids}
        statuses = [(await caller.get(f"/catalog/datasets/{one['id']}")).status_code for one in (hidden, named)]
        assert [status == 200 for status in statuses] == [*seen[who].values()]
    assert seen == {
        "consumer": {"hidden": False, "named": True},
        "other": {"hidden": False, "named": False},
        "provider": {"hidden": True, "named": True},
    }
    trade.head = hidden
    await refused(trade, "/negotiations/request", new_negotiation(trade), 404)


async def test_no_count_and_no_digest_of_counts_is_in_a_catalogue(trade):
    shown = (await trade.consumer.get(f"/catalog/datasets/{trade.head['id']}")).text
    assert trade.head["digest"] not in shown
    assert "joint" not in shown
    assert "histogram" not in shown


async def test_negotiations_spend_the_question_budget(trade, shared_database_url):
    allowed = {"webhooks_allow_private": True, "question_budget": 1}
    async with running_app(shared_database_url, **allowed) as frugal:
        asked = {"json": {"measure": "g3"}, "headers": trade.keys["consumer"] | {"Prefer": "respond-async"}}
        assert (await frugal.post(f"/v1/entries/{trade.head['id']}/advice", **asked)).status_code == 202
        said = await refused(trade_at(frugal, trade), "/negotiations/request", new_negotiation(trade), 429)
    assert said["code"] == "budget_spent"


async def test_a_policy_is_in_the_offer_as_the_schemas_want_it(trade):
    constraint = {"leftOperand": "odrl:count", "operator": {"@id": "odrl:lteq"}, "rightOperand": 3}
    terms = {"permission": [{"target": "x", "action": "odrl:use", "constraint": [constraint]}]}
    terms |= {"prohibition": [{"action": "distribute"}]}
    head = await publish(trade.api, entry(terms=terms), **trade.keys["provider"])
    offer = (await trade.consumer.get(f"/catalog/datasets/{head['id']}")).json()["hasPolicy"][0]
    own = {"leftOperand": "count", "operator": "lteq", "rightOperand": "3"}
    assert offer["permission"][0]["constraint"][0] == own
    assert offer["prohibition"] == [{"action": "distribute"}]
    terms["permission"][0]["duty"] = [{"action": "delete"}]
    head = await publish(trade.api, entry(terms=terms), **trade.keys["provider"])
    offer = (await trade.consumer.get(f"/catalog/datasets/{head['id']}")).json()["hasPolicy"][0]
    held = [one for one in offer["permission"][0]["constraint"] if one["leftOperand"] == "urn:aegis:terms"]
    assert (held[0]["rightOperand"], "prohibition" in offer) == (head["terms"], False)


async def test_a_consumer_that_nobody_can_reach_reads_its_processes(trade):
    process = await trade.negotiate(callbackAddress="urn:aegis:poll")
    await trade.act("provider", "counter", configuration="c02")
    path = f"/negotiations/{process['providerPid']}"
    read = (await trade.consumer.get(path)).json()
    assert (read["state"], read["offer"]["@id"].rpartition(":")[2]) == ("OFFERED", "c02")
    assert await accept(trade, process) == 200
    await trade.send()
    read = (await trade.consumer.get(path)).json()
    assert (read["state"], read["agreement"]["@type"]) == ("AGREED", "Agreement")
    assert trade.connector.received == []


async def test_the_purpose_of_an_offer_is_that_of_the_request(trade):
    constraint = {"leftOperand": "purpose", "operator": "eq", "rightOperand": "A study of local care"}
    await trade.negotiate(offer=trade.offer() | {"permission": [{"action": "use", "constraint": [constraint]}]})
    assert (await trade.request())["purpose"] == "A study of local care"


@pytest.mark.skipif(not SCHEMAS.is_dir(), reason=f"{SCHEMAS} has no schemas: AEGIS_STANDARDS_FILES names their folder")
def test_what_breaks_a_schema_is_found():
    with pytest.raises(jsonschema_rs.ValidationError, match="is not one of"):
        hold_to_schema(message("TransferProcess", providerPid="a", consumerPid="b", state="AGREED"))
