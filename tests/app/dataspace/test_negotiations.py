"""Negotiations: the scenarios of the official test kit by their ids, from the diagrams of the specification.

The consumer's connector is `trade.connector`. The provider acts by the API, as its people and programs do.
"""

from tests.app.dataspace.conftest import VERIFIED
from tests.dataspace import message

ACCEPTED = "ContractNegotiationEventMessage"
TERMINATED = "ContractNegotiationTerminationMessage"
REASON = {"reason": "over"}


async def offered(trade):
    """A negotiation in which the provider offers another configuration."""
    process = await trade.negotiate()
    await trade.act("provider", "counter", configuration="c02")
    assert trade.connector.told(process["consumerPid"]) == ["offers"]
    assert await trade.state(process) == "OFFERED"
    return process


async def accept(trade, process):
    return await trade.consumer.tell(ACCEPTED, "/negotiations/{}/events", process, eventType="ACCEPTED")


async def verify(trade, process):
    return await trade.consumer.tell(VERIFIED, "/negotiations/{}/agreement/verification", process)


async def terminate(trade, process):
    return await trade.consumer.tell(TERMINATED, "/negotiations/{}/termination", process, code="1")


async def counter(trade, process, offer):
    pids = {name: process[name] for name in ("providerPid", "consumerPid")}
    sent = message("ContractRequestMessage", **pids, offer=offer)
    return await trade.consumer.post(f"/negotiations/{process['providerPid']}/request", sent)


async def test_cn_01_01(trade):
    process = await offered(trade)
    assert await terminate(trade, process) == 200
    assert await trade.state(process) == "TERMINATED"
    assert (await trade.request())["state"] == "withdrawn"


async def test_cn_01_02(trade):
    process = await offered(trade)
    assert (await counter(trade, process, trade.offer("c02"))).status_code == 200
    assert await trade.state(process) == "REQUESTED"
    await trade.worker.run()
    await trade.act("provider", "decline", **REASON)
    assert trade.connector.told(process["consumerPid"]) == ["offers", "termination"]
    assert trade.connector.about(process["consumerPid"])[-1]["reason"] == ["over"]
    assert await trade.state(process) == "TERMINATED"


async def test_cn_01_02_with_an_offer_that_the_catalogue_does_not_have(trade):
    process = await offered(trade)
    assert (await counter(trade, process, trade.offer() | {"@id": "CD123:ACN0102:456"})).status_code == 200
    await trade.send()
    assert trade.connector.told(process["consumerPid"]) == ["offers", "termination"]
    assert await trade.state(process) == "TERMINATED"


async def test_cn_01_03(trade):
    process = await offered(trade)
    assert await accept(trade, process) == 200
    await trade.send()
    assert await trade.state(process) == "AGREED"
    agreement = trade.connector.about(process["consumerPid"])[-1]["agreement"]
    assert (agreement["assigner"], agreement["assignee"]) == ("urn:aegis:tenant:hospital", "urn:aegis:tenant:insurer")
    assert agreement["target"] == f"urn:uuid:{trade.head['id']}"
    assert "c02" in [one["rightOperand"] for one in agreement["permission"][0]["constraint"]]
    assert await verify(trade, process) == 200
    await trade.send()
    assert trade.connector.told(process["consumerPid"]) == ["offers", "agreement", "events"]
    assert await trade.state(process) == "FINALIZED"


async def test_cn_01_04(trade):
    process, _ = await trade.agreed()
    assert await trade.state(process) == "AGREED"
    assert await verify(trade, process) == 200
    await trade.send()
    assert await trade.state(process) == "FINALIZED"
    assert trade.connector.told(process["consumerPid"]) == ["agreement", "events"]


async def test_cn_02_01(trade):
    process = await trade.negotiate()
    await trade.act("provider", "decline", **REASON)
    assert trade.connector.told(process["consumerPid"]) == ["termination"]
    assert await trade.state(process) == "TERMINATED"


async def test_cn_02_02(trade):
    process = await trade.negotiate()
    assert await terminate(trade, process) == 200
    assert await trade.state(process) == "TERMINATED"
    await trade.send()
    assert trade.connector.told(process["consumerPid"]) == []


async def test_cn_02_03(trade):
    process, _ = await trade.agreed()
    assert await terminate(trade, process) == 200
    assert await trade.state(process) == "TERMINATED"
    assert (await trade.request())["state"] == "withdrawn"


async def test_cn_02_04(trade):
    process = await offered(trade)
    assert await terminate(trade, process) == 200
    assert await trade.state(process) == "TERMINATED"


async def test_cn_02_05(trade):
    process = await offered(trade)
    await trade.act("operator", "end", **REASON)
    assert trade.connector.told(process["consumerPid"]) == ["offers", "termination"]
    assert await trade.state(process) == "TERMINATED"


async def test_cn_02_06(trade):
    process = await offered(trade)
    trade.connector.refuses = {"agreement"}  # as the kit does, which waits for the termination
    assert await accept(trade, process) == 200
    await trade.send()
    assert await trade.state(process) == "ACCEPTED"
    await trade.act("provider", "decline", **REASON)
    assert trade.connector.told(process["consumerPid"]) == ["offers", "termination"]
    assert await trade.state(process) == "TERMINATED"


async def test_cn_02_07(trade):
    process, _ = await trade.agreed()
    trade.connector.refuses = {"events"}
    assert await verify(trade, process) == 200
    await trade.act("provider", "decline", **REASON)
    assert trade.connector.told(process["consumerPid"]) == ["agreement", "termination"]
    assert await trade.state(process) == "TERMINATED"


async def test_cn_03_01(trade):
    process, _ = await trade.agreed()
    await verify(trade, process)
    await trade.send()
    assert await trade.state(process) == "FINALIZED"
    assert await terminate(trade, process) == 400
    assert await trade.state(process) == "FINALIZED"


async def test_cn_03_02(trade):
    process = await offered(trade)
    assert await verify(trade, process) == 400
    assert await trade.state(process) == "OFFERED"


async def test_cn_03_03(trade):
    process = await offered(trade)
    assert await accept(trade, process) == 200
    assert await verify(trade, process) == 400
    assert await trade.state(process) == "ACCEPTED"


async def test_cn_03_04(trade):
    process = await offered(trade)
    assert (await counter(trade, process, trade.offer("c02"))).status_code == 200
    assert (await counter(trade, process, trade.offer("c02"))).status_code == 400
