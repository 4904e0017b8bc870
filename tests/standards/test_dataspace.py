"""The messages of whole trades, as pyld expands them with the contexts that the Dataspace Protocol publishes."""

import json

from tests.app.dataspace.conftest import connector, consumer, guarded, head, keys, messenger, trade, worker
from tests.app.dataspace.test_negotiations import accept, counter, offered, terminate, verify
from tests.app.dataspace.test_transfers import LINK, complete, relinked, suspend
from tests.app.dataspace.test_transfers import terminate as terminate_transfer
from tests.dataspace import SEEN, message
from tests.standards.judging import judged, published

__all__ = ["connector", "consumer", "guarded", "head", "keys", "messenger", "trade", "worker"]

DSPACE = "https://w3id.org/dspace/2025/1/"
ODRL = "http://www.w3.org/ns/odrl/2/"
TYPES = {"Catalog": "http://www.w3.org/ns/dcat#Catalog", "Dataset": "http://www.w3.org/ns/dcat#Dataset"}


async def traded(trade):
    """All messages of a negotiation with an offer, a counter-offer and an agreement, and of two transfers."""
    await trade.consumer.post("/catalog/request", message("CatalogRequestMessage"))
    await trade.consumer.get(f"/catalog/datasets/{trade.head['id']}")
    await trade.consumer.get("/catalog/datasets/none")
    process = await offered(trade)
    await verify(trade, process)
    await counter(trade, process, trade.offer("c02"))
    await terminate(trade, process)
    process = await offered(trade)
    await accept(trade, process)
    await trade.send()
    await verify(trade, process)
    await trade.send()
    transfer = await relinked(trade)
    await suspend(trade, transfer)
    await complete(trade, transfer)
    await terminate_transfer(trade, transfer)
    await trade.act("operator", "end", reason="over")
    assert LINK["url"] in json.dumps(trade.connector.about(transfer["consumerPid"]))
    return [*SEEN, *(one for _, one, _ in trade.connector.received)]


async def test_every_message_expands_to_what_it_says(trade, tmp_path):
    contexts = published("dsp-2025-1") / "context"
    SEEN.clear()
    seen = await traded(trade)
    (tmp_path / "messages").write_text("\n".join(map(json.dumps, seen)))
    expanded = judged("expanded_messages.py", tmp_path / "messages", contexts)
    assert len({one["@type"] for one in seen}) >= 16
    for said, (node,) in zip(seen, expanded, strict=True):
        kind = said["@type"]
        assert node["@type"] == [TYPES.get(kind, f"{DSPACE}{kind}")]
        assert len(node) == len(said) - 1, (said, node)  # every member but the context means something
        for pid in ("providerPid", "consumerPid"):
            if pid in said:
                (value,) = node[f"{DSPACE}{pid}"]
                assert value.get("@id", value.get("@value")) == said[pid]
        if "state" in said:
            assert node[f"{DSPACE}state"] == [{"@id": f"{DSPACE}{said['state']}"}]


async def test_the_rules_of_an_offer_are_odrl(trade, tmp_path):
    contexts = published("dsp-2025-1") / "context"
    dataset = (await trade.consumer.get(f"/catalog/datasets/{trade.head['id']}")).json()
    (tmp_path / "messages").write_text(json.dumps(dataset))
    ((node,),) = judged("expanded_messages.py", tmp_path / "messages", contexts)
    offers = node[f"{ODRL}hasPolicy"]
    assert [one["@id"].rpartition(":")[2] for one in offers] == ["c01", "c02", "c03"]
    (rule,) = offers[0][f"{ODRL}permission"]
    assert rule[f"{ODRL}action"] == [{"@id": f"{ODRL}use"}]
    k = next(one for one in rule[f"{ODRL}constraint"] if one[f"{ODRL}leftOperand"] == [{"@id": "urn:aegis:k"}])
    assert (k[f"{ODRL}operator"], k[f"{ODRL}rightOperand"]) == ([{"@id": f"{ODRL}gteq"}], [{"@value": "5"}])
