from dataclasses import dataclass
from uuid import uuid4

import httpx
import pytest
from pydantic import SecretStr

from app.audit.service import signer_of
from app.dataspace.jobs import Messenger
from app.platform.queue.queue import queue_app
from app.webhooks.jobs import EventSender
from tests.app.requests.asking import entry
from tests.dataspace import Caller, Connector, connected, message, new_pid
from tests.kept import database_at
from tests.service import AUDIT_KEY, Worker, create_key, publish, running_app


@pytest.fixture(scope="module")
async def keys(_one_loop, shared_database_url):
    made = {"consumer": ("insurer", "consumer"), "provider": ("hospital", "provider"), "other": ("lab", "provider")}
    made |= {"operator": ("desk", "operator"), "own": ("hospital", "consumer")}
    return {name: await create_key(shared_database_url, *one) for name, one in made.items()}


@pytest.fixture(scope="module")
async def guarded(shared_database_url, keys):  # noqa: ARG001 -- with keys, it is not in development mode
    allowed = {"webhooks_allow_private": True, "links_allow_private": True, "audit_key": AUDIT_KEY}
    async with running_app(shared_database_url, **allowed) as api:
        yield api


@pytest.fixture(scope="module")
async def worker(_one_loop, shared_database_url):
    async with Worker.on(shared_database_url) as running:
        yield running


@pytest.fixture(scope="module")
async def messenger(_one_loop, shared_database_url):
    async with database_at(shared_database_url) as database:
        signer = signer_of(SecretStr(AUDIT_KEY))
        yield Messenger(database, queue_app(shared_database_url), EventSender(allow_private=True), signer)


@pytest.fixture
def connector():
    with connected() as one:
        yield one


@pytest.fixture(scope="module")
async def head(guarded, keys):
    """An entry for all tests of a file, whose advice is computed once."""
    return await publish(guarded, entry(), **keys["provider"])


@pytest.fixture
def consumer(guarded, keys):
    return Caller(guarded, keys["consumer"])


@pytest.fixture
def trade(guarded, keys, worker, messenger, connector, head, consumer):
    return Trade(guarded, keys, worker, messenger, connector, head, consumer)


@dataclass
class Trade:
    """A consumer's connector and a provider that acts by the API, with an entry between them."""

    api: httpx.AsyncClient
    keys: dict[str, dict[str, str]]
    worker: Worker
    messenger: Messenger
    connector: Connector
    head: dict[str, object]
    consumer: Caller

    def offer(self, configuration="c01"):
        about = f"{self.head['id']}:{self.head['version']}:{configuration}"
        target = f"urn:uuid:{self.head['id']}"
        rules = {"permission": [{"action": "use"}]}
        return {"@id": f"urn:aegis:offer:{about}", "@type": "Offer", "target": target} | rules

    async def negotiate(self, configuration="c01", **changes):
        """Begin a negotiation, and let the service find its advice; return the process."""
        sent = message("ContractRequestMessage", consumerPid=new_pid(), offer=self.offer(configuration))
        sent |= {"callbackAddress": self.connector.url} | changes
        answer = await self.consumer.post("/negotiations/request", sent)
        assert answer.status_code == 201, answer.text
        await self.worker.run()
        return answer.json()

    async def request(self):
        """The data request of the latest negotiation."""
        listed = await self.api.get("/v1/requests", params={"entry": self.head["id"]}, headers=self.keys["provider"])
        return listed.json()["items"][0]

    async def act(self, who, action, **asked):
        """Act by the API on the latest request, and send what follows."""
        request = await self.request()
        path = f"/v1/requests/{request['id']}/actions"
        answer = await self.api.post(path, json={"action": action} | asked, headers=self.keys[who])
        assert answer.status_code == 200, answer.text
        await self.send()
        return answer.json()

    async def send(self):
        """Send what is due, until nothing is."""
        for _ in range(4):
            await self.messenger.run_once()

    async def deliver(self, **changes):
        described = {
            "url": f"https://store.hospital.example/{uuid4()}.csv",
            "media_type": "text/csv",
            "size": 481_230,
            "sha256": "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab",
            "records": 100,
            "configuration": "c01",
            "entry_digest": self.head["digest"],
            "privacy": {"k": 5},
        } | changes
        return await self.act("provider", "deliver", **described)

    async def agreed(self):
        """A negotiation with an agreement, and its id."""
        process = await self.negotiate()
        await self.act("provider", "approve")
        return process, self.connector.about(process["consumerPid"])[-1]["agreement"]["@id"]

    async def finalized(self):
        process, agreement = await self.agreed()
        assert await self.consumer.tell(VERIFIED, "/negotiations/{}/agreement/verification", process) == 200
        await self.send()
        assert await self.state(process) == "FINALIZED"
        return agreement

    async def transfer(self, **changes):
        """A transfer of a new agreement."""
        asked = {"agreementId": await self.finalized(), "format": "HttpData-PULL", "consumerPid": new_pid()}
        sent = message("TransferRequestMessage", **asked, callbackAddress=self.connector.url) | changes
        answer = await self.consumer.post("/transfers/request", sent)
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def state(self, process):
        kind = {"ContractNegotiation": "negotiations", "TransferProcess": "transfers"}[process["@type"]]
        return (await self.consumer.get(f"/{kind}/{process['providerPid']}")).json()["state"]


VERIFIED = "ContractAgreementVerificationMessage"
