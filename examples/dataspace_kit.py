"""A provider for the official test kit of the Dataspace Protocol: it plays the provider's part of each of its tests.

    make serve > serve.log 2>&1 &    # with AEGIS_WEBHOOKS_ALLOW_PRIVATE=true, so that it reaches the kit
    python -m examples.dataspace_kit serve.log kit

It publishes an entry for each test of negotiations, comes to an agreement for each test of transfers, and writes
`kit/config.properties` for the kit. Then it acts on what the kit requests until it is interrupted. That a transfer has
begun is only in the service's log, which it therefore reads.
"""

import os
import re
import sys
import time
from pathlib import Path
from typing import Any, Final

import httpx

from aegis_sdk import AegisError, Client
from aegis_sdk.dataspace import Connector
from aegis_sdk.wire import EXAMPLE_ENTRY, DataRequest, DeliveryDescriptor, DeliveryVerdict

URL: Final = os.environ.get("AEGIS_URL", "http://127.0.0.1:8000")

#: What the provider does with the request of a test, one step after the other.
NEGOTIATIONS: Final[dict[str, tuple[str, ...]]] = {
    "CN_01_01": ("counter",),
    "CN_01_02": ("counter",),
    "CN_01_03": ("counter",),
    "CN_01_04": ("approve",),
    "CN_02_01": ("decline",),
    "CN_02_02": (),
    "CN_02_03": ("approve",),
    "CN_02_04": ("counter",),
    "CN_02_05": ("counter", "end"),
    "CN_02_06": ("counter", "decline"),
    "CN_02_07": ("approve", "decline"),
    "CN_03_01": ("approve",),
    "CN_03_02": ("counter",),
    "CN_03_03": ("counter",),
    "CN_03_04": ("counter",),
}
TRANSFERS: Final[dict[str, tuple[str, ...]]] = {
    "TP_01_01": ("deliver", "end"),
    "TP_01_02": ("deliver", "receive"),
    "TP_01_03": ("deliver", "relink", "end"),
    "TP_01_04": ("deliver", "relink", "receive"),
    "TP_01_05": ("decline",),
    **{f"TP_02_0{number}": ("deliver",) for number in range(1, 5)},
    "TP_02_05": (),
    "TP_03_01": (),
    "TP_03_02": (),
    **{f"TP_03_0{number}": ("deliver",) for number in range(3, 7)},
}
CATALOGUE: Final = ("CAT_01_01", "CAT_01_02")

#: Seconds between two steps, in which messages arrive.
_PAUSE: Final = 2.0
_FILE: Final[dict[str, Any]] = {"sha256": "0" * 64, "size": 100, "records": 100}

_CONFIGURATION: Final = f"""dataspacetck.debug=true
dataspacetck.dsp.local.connector=false
dataspacetck.host=0.0.0.0
dataspacetck.port=8083
dataspacetck.callback.address=http://127.0.0.1:8083
dataspacetck.dsp.connector.agent.id=urn:aegis:tenant:default
dataspacetck.dsp.connector.http.url={URL}/dsp/2025-1
dataspacetck.dsp.connector.http.base.url={URL}
dataspacetck.dsp.default.wait=20000
"""


def act(client: Client, request: DataRequest, step: str) -> None:
    """Take a step of the provider, or of the consumer's people."""
    steps = client.requests
    match step:
        case "counter":
            steps.counter(request.id, "c02")
        case "approve":
            steps.approve(request.id)
        case "decline":
            steps.decline(request.id, "not today")
        case "end":
            steps.end(request.id, "over")
        case "deliver":
            described: dict[str, Any] = _FILE | {"configuration": "c01", "entry_digest": request.entry.digest}
            described |= {"url": f"{URL}/v1/measures", "media_type": "text/csv", "privacy": {"k": 5}}
            steps.deliver(request.id, DeliveryDescriptor(**described))
        case "relink":
            steps.relink(request.id, f"{URL}/v1/measures?again")
        case _:
            steps.receive(request.id, DeliveryVerdict(**_FILE, privacy={"k": 5}))


def offers_of(client: Client, test: str) -> tuple[str, str]:
    """The dataset and the first offer of a new entry for a test."""
    name = f"kit-{test.lower().replace('_', '-')}-{int(time.time())}"
    head = client.publish(EXAMPLE_ENTRY | {"name": name, "title": test}, accept_small_counts=True)
    return f"urn:uuid:{head.id}", f"urn:aegis:offer:{head.id}:{head.version}:c01"


def agreement_of(client: Client, connector: Connector, test: str) -> tuple[str, str]:
    """A final agreement for a test, and the id of its data request."""
    dataset, _ = offers_of(client, test)
    negotiation = connector.request(connector.dataset(dataset).policies[0], dataset)
    (head,) = client.requests.list(entry_id=dataset.removeprefix("urn:uuid:"))
    while client.requests.get(head.id).state == "requested":
        time.sleep(0.2)
    client.requests.approve(head.id)
    connector.wait(negotiation, ("AGREED",), 60)
    connector.verify(negotiation)
    connector.wait(negotiation, ("FINALIZED",), 60)
    assert negotiation.agreement is not None  # noqa: S101 - the state says so
    return negotiation.agreement.id, head.id


def prepare(client: Client, folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Write the kit's configuration; return the tests by entry of a negotiation, and by request of a transfer."""
    lines, entries, requests = [_CONFIGURATION], {}, {}
    for test in (*CATALOGUE, *NEGOTIATIONS):
        dataset, offer = offers_of(client, test)
        lines.append(f"{test}_DATASETID={dataset}\n{test}_OFFERID={offer}\n")
        entries[dataset.removeprefix("urn:uuid:")] = test
    with httpx.Client(timeout=60) as http:
        connector = Connector.at(URL, http)
        for test in TRANSFERS:
            agreement, request_id = agreement_of(client, connector, test)
            lines.append(f"{test}_AGREEMENTID={agreement}\n{test}_FORMAT=HttpData-PULL\n")
            requests[request_id] = test
    folder.mkdir(exist_ok=True)
    (folder / "config.properties").write_text("".join(lines), encoding="utf-8")
    return entries, requests


def transferred(log: Path) -> list[str]:
    """The ids of the requests of which the service's log says that a transfer has begun."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if "transfer begun" in line]
    return [one[1] for line in lines if (one := re.search(r"data_request\W+([0-9a-f-]{36})", line))]


def play(client: Client, log: Path, entries: dict[str, str], requests: dict[str, str]) -> None:
    """Act on what the kit requests, one step of each request at a time, until interrupted."""
    left: dict[str, list[str]] = {}
    begun: dict[str, float] = {}
    while True:
        for one in client.requests.list(state="advised"):
            if one.entry.id in entries and one.id not in left:
                left[one.id] = list(NEGOTIATIONS.get(entries[one.entry.id], ()))
        for request_id in transferred(log):
            if request_id in requests and request_id not in left:
                left[request_id] = list(TRANSFERS[requests[request_id]])
        for request_id, steps in left.items():
            if steps and time.monotonic() - begun.get(request_id, 0.0) >= _PAUSE:
                try:
                    act(client, client.requests.get(request_id), steps[0])
                    sys.stdout.write(f"{request_id} {steps.pop(0)}\n")
                    sys.stdout.flush()
                except AegisError as error:  # not yet: the kit's message is still to come
                    sys.stdout.write(f"{request_id} {steps[0]}: {error}\n")
                begun[request_id] = time.monotonic()
        time.sleep(0.2)


def main() -> None:
    """Prepare, and play until interrupted."""
    log, folder = map(Path, sys.argv[1:3])
    with Client(URL) as client:
        play(client, log, *prepare(client, folder))


if __name__ == "__main__":
    main()
