"""Transfers: the scenarios of the official test kit by their ids, from the diagrams of the specification."""

from tests.app.dataspace.test_negotiations import REASON

COMPLETED = {"size": 481_230, "sha256": "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab"}
RECEIVED = COMPLETED | {"records": 100, "privacy": {"k": 5}}
LINK = {"url": "https://store.hospital.example/again.csv"}


async def started(trade):
    process = await trade.transfer()
    await trade.deliver()
    assert trade.connector.told(process["consumerPid"]) == ["start"]
    assert await trade.state(process) == "STARTED"
    return process


async def tell(trade, process, kind, path):
    return await trade.consumer.tell(f"Transfer{kind}Message", f"/transfers/{{}}/{path}", process)


async def complete(trade, process):
    return await tell(trade, process, "Completion", "completion")


async def suspend(trade, process):
    return await tell(trade, process, "Suspension", "suspension")


async def terminate(trade, process):
    return await tell(trade, process, "Termination", "termination")


async def start(trade, process):
    return await tell(trade, process, "Start", "start")


async def relinked(trade, *refuses):
    """A transfer that the provider has suspended, since it has replaced the link."""
    process = await started(trade)
    trade.connector.refuses = set(refuses)
    await trade.act("provider", "relink", **LINK)
    return process


async def test_tp_01_01(trade):
    process = await started(trade)
    await trade.act("operator", "end", **REASON)
    assert trade.connector.told(process["consumerPid"]) == ["start", "termination"]
    assert await trade.state(process) == "TERMINATED"


async def test_tp_01_02(trade):
    process = await started(trade)
    await trade.act("consumer", "receive", **RECEIVED)
    assert trade.connector.told(process["consumerPid"]) == ["start", "completion"]
    assert await trade.state(process) == "COMPLETED"


async def test_tp_01_03(trade):
    process = await relinked(trade, "start")
    assert await trade.state(process) == "SUSPENDED"
    await trade.act("consumer", "dispute", **RECEIVED, reason="Cannot be read")
    assert trade.connector.told(process["consumerPid"]) == ["start", "suspension", "termination"]
    assert trade.connector.about(process["consumerPid"])[-1]["reason"] == ["Cannot be read"]
    assert await trade.state(process) == "TERMINATED"


async def test_tp_01_04(trade):
    process = await relinked(trade)
    assert trade.connector.told(process["consumerPid"]) == ["start", "suspension", "start"]
    assert trade.connector.about(process["consumerPid"])[-1]["dataAddress"]["endpoint"] == LINK["url"]
    await trade.act("consumer", "receive", **RECEIVED)
    assert trade.connector.told(process["consumerPid"]) == ["start", "suspension", "start", "completion"]
    assert await trade.state(process) == "COMPLETED"


async def test_tp_01_05(trade):
    process = await trade.transfer()
    await trade.act("provider", "decline", **REASON)
    assert trade.connector.told(process["consumerPid"]) == ["termination"]
    assert await trade.state(process) == "TERMINATED"


async def test_tp_02_01(trade):
    process = await started(trade)
    assert await terminate(trade, process) == 200
    assert await trade.state(process) == "TERMINATED"
    assert (await trade.request())["state"] == "delivered"


async def test_tp_02_02(trade):
    process = await started(trade)
    address = trade.connector.about(process["consumerPid"])[0]["dataAddress"]
    told = {one["name"]: one["value"] for one in address["endpointProperties"]}
    assert (told["sha256"], told["size"], told["records"]) == (COMPLETED["sha256"], "481230", "100")
    assert await complete(trade, process) == 200
    assert await trade.state(process) == "COMPLETED"
    assert (await trade.request())["state"] == "received"
    await trade.send()
    assert trade.connector.told(process["consumerPid"]) == ["start"]


async def test_tp_02_03(trade):
    process = await started(trade)
    assert await suspend(trade, process) == 200
    assert await trade.state(process) == "SUSPENDED"
    await trade.send()
    assert await terminate(trade, process) == 200
    assert await trade.state(process) == "TERMINATED"
    assert trade.connector.told(process["consumerPid"]) == ["start"]


async def test_tp_02_04(trade):
    process = await started(trade)
    assert await suspend(trade, process) == 200
    await trade.send()
    assert await trade.state(process) == "SUSPENDED"
    assert await start(trade, process) == 200
    assert await trade.state(process) == "STARTED"
    assert await complete(trade, process) == 200
    assert await trade.state(process) == "COMPLETED"


async def test_tp_02_05(trade):
    process = await trade.transfer()
    assert await trade.state(process) == "REQUESTED"
    assert await terminate(trade, process) == 200
    assert await trade.state(process) == "TERMINATED"


async def test_tp_03_01(trade):
    process = await trade.transfer()
    assert await complete(trade, process) == 400
    assert await trade.state(process) == "REQUESTED"


async def test_tp_03_02(trade):
    process = await trade.transfer()
    assert await suspend(trade, process) == 400
    assert await trade.state(process) == "REQUESTED"


async def test_tp_03_03(trade):
    process = await started(trade)
    assert await suspend(trade, process) == 200
    assert await complete(trade, process) == 400
    assert await trade.state(process) == "SUSPENDED"


async def refused_after_termination(trade, tell):
    process = await started(trade)
    assert await terminate(trade, process) == 200
    assert await tell(trade, process) == 400
    assert await trade.state(process) == "TERMINATED"


async def test_tp_03_04(trade):
    await refused_after_termination(trade, start)


async def test_tp_03_05(trade):
    await refused_after_termination(trade, suspend)


async def test_tp_03_06(trade):
    await refused_after_termination(trade, complete)
