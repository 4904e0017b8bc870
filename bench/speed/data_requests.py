"""Data requests under load: consumers ask, agents approve and deliver, and processes are killed meanwhile.

`python -m bench.speed.data_requests --kills 100` kills and restarts agents, workers and the API in turn.
"""

import argparse
import hashlib
import json
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from aegis_provider import load_plan, prepare_entry
from aegis_sdk import Client, ConflictError, ServiceUnreachableError, UnavailableError
from aegis_sdk.wire import DataRequest, DeliveryVerdict, Head
from bench.measuring import heading, percentile, run, table, verdict
from bench.speed.market import PROVIDER, Marketplace, marketplace

CONSUMERS, AGENTS, WORKERS = 20, 5, 2
#: Requests per consumer, and the number of those for the large table.
EACH, LARGE = 10, 1
#: Records of the tables: 200 KB and 20 MB as CSV.
RECORDS = {"small": 7_000, "large": 700_000}
ATTRIBUTES = 8
#: Seconds until another agent takes over.
LEASE = 10
#: Seconds after which a consumer gives up, and in which agents clean up at the end.
PATIENCE, TIDYING = 1_800.0, 90.0


def main(kills: int = 0) -> None:
    heading(f"Data requests: {CONSUMERS} consumers, {AGENTS} agents, {WORKERS} workers, {kills} kills")
    tenants = [f"consumer-{number}" for number in range(CONSUMERS)]
    with marketplace(WORKERS, tenants) as market:
        entries = _published(market)
        killer = threading.Thread(target=market.kill, args=(kills,), daemon=True)
        killer.start()
        begun = time.monotonic()
        with ThreadPoolExecutor(CONSUMERS) as consumers:
            ended = [
                request for done in consumers.map(partial(_consumer, market, entries), tenants) for request in done
            ]
        seconds = time.monotonic() - begun
        killer.join()
        _report(market, ended, seconds, kills, _left(market, ended))


def _published(market: Marketplace) -> Mapping[str, Head]:
    """Publish an entry for every table and start the agents."""
    place, entries = market.place, {}
    maskings = ", ".join(f"a{number}: tens" for number in range(ATTRIBUTES))
    attributes = "".join(
        f"  a{number}: {{type: integer, maskings: {{tens: {{bucketize: {{width: 25}}}}, gone: {{suppress: {{}}}}}}}}\n"
        for number in range(ATTRIBUTES)
    )
    gone = ", ".join(f"a{number}: {'tens' if number else 'gone'}" for number in range(ATTRIBUTES))
    plan = f"label: label\nattributes:\n{attributes}configurations:\n  c1: {{{maskings}}}\n  c2: {{{gone}}}\n"
    (place / "plan.yaml").write_text(plan)
    with Client(market.url, market.keys[PROVIDER]) as client:
        for name, records in RECORDS.items():
            _write_table(place / f"{name}.csv", records)
            prepared = prepare_entry(place / f"{name}.csv", load_plan(place / "plan.yaml"), name=name)
            entries[name] = client.publish(prepared.entry, accept_small_counts=True, accept_unique=True)
            client.set_visibility(entries[name].id, "all")
    planned = "".join(f"  {name}: {{table: {name}.csv, plan: plan.yaml, accept_unique: true}}\n" for name in RECORDS)
    policy = f"to: {market.storage}\nentries:\n{planned}approve:\n- {{tenants: any, require: {{}}}}\n"
    (place / "policy.yaml").write_text(policy)
    agent = [
        sys.executable,
        "-m",
        "aegis_sdk.cli",
        "requests",
        "agent",
        "--policy",
        str(place / "policy.yaml"),
        "--json",
    ]
    agent += ["--lease", str(LEASE), "--work", str(place / "work")]
    for number in range(AGENTS):
        market.start("agent", number, agent, AEGIS_URL=market.url, AEGIS_API_KEY=market.keys[PROVIDER])
    return entries


def _write_table(path: Path, records: int) -> None:
    chance = np.random.default_rng(22)
    values = chance.integers(0, 100, (records, ATTRIBUTES))
    label = (values.sum(axis=1) + chance.normal(0, 60, records) > 50 * ATTRIBUTES).astype(int)
    header = ",".join([*(f"a{number}" for number in range(ATTRIBUTES)), "label"])
    np.savetxt(path, np.column_stack([values, label]), fmt="%02d", delimiter=",", header=header, comments="")


def _consumer(market: Marketplace, entries: Mapping[str, Head], tenant: str) -> list[DataRequest]:
    """Request all tables of a consumer one after the other, and check every delivery."""
    ended, number = [], int(tenant.rpartition("-")[2])
    with Client(market.url, market.keys[tenant]) as client:
        for turn in range(EACH):
            name = "large" if turn < LARGE else "small"
            attributes = [f"a{(number + turn + step) % ATTRIBUTES}" for step in range(2 + turn % 5)]
            made = _persistently(partial(_asked, client, entries[name], attributes))
            delivered = _persistently(partial(_checked, client, made.id))
            ended.append(_persistently(partial(_received, client, delivered)))
    return ended


def _asked(client: Client, head: Head, attributes: list[str]) -> DataRequest:
    how: dict[str, Any] = {"purpose": "a study of care", "contact": "me@lab.example", "terms": head.terms}
    return client.requests.create(head.id, "mutual_information", **how, attributes=attributes)


def _checked(client: Client, request_id: str) -> DataRequest:
    """Wait for the delivery of a request, and check the file."""
    while (request := client.requests.get(request_id)).delivery is None:
        time.sleep(0.5)
    content = httpx.get(request.delivery.url, timeout=60).content
    if hashlib.sha256(content).hexdigest() != request.delivery.sha256:
        raise RuntimeError(f"{request_id}: the file that was delivered has another digest")
    return request


def _received(client: Client, request: DataRequest) -> DataRequest:
    delivery = request.delivery
    if delivery is None:
        raise RuntimeError(f"{request.id}: nothing was delivered")
    said = DeliveryVerdict(sha256=delivery.sha256, size=delivery.size, records=delivery.records, cells_compared=0)
    try:
        return client.requests.receive(request.id, said)
    except ConflictError:  # the API was killed after it had stored this
        return client.requests.get(request.id)


def _persistently(work: partial[DataRequest]) -> DataRequest:
    """The result of some work, repeated while the service does not respond."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return work()
        except (ServiceUnreachableError, UnavailableError, httpx.HTTPError):
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


def _left(market: Marketplace, ended: list[DataRequest]) -> int:
    """The number of files without a delivery in the storage, after time for agents to remove them."""
    delivered = {request.delivery.sha256 for request in ended if request.delivery is not None}
    until = time.monotonic() + TIDYING
    while (
        left := sum(not any(one in name for one in delivered) for name in market.shared())
    ) and time.monotonic() < until:
        time.sleep(1)
    return left


def _report(market: Marketplace, ended: list[DataRequest], seconds: float, kills: int, left: int) -> None:
    lost = CONSUMERS * EACH - len({request.id for request in ended if request.state == "received"})
    doubled = sum(sum(change.action == "deliver" for change in request.changes) > 1 for request in ended)
    again = sum(market.uploads.values()) - len(ended)
    print(
        f"{len(ended)} requests, {CONSUMERS * LARGE} of them for 20 MB, were delivered and checked in {seconds:.0f} s;"
    )
    print(f"killed: {dict(market.killed) or 'nothing'}.")
    print(f"lost: {lost}; delivered twice: {doubled}; files left without a delivery: {left};")
    print(f"uploads begun anew: {again}")
    waits = {
        "from the request to its advice": [_between(request, "request", "advise") for request in ended],
        "from the advice to its approval": [_between(request, "advise", "approve") for request in ended],
        "from the approval to the delivery": [_between(request, "approve", "deliver") for request in ended],
    }
    table(["by the service's clock", "p50, ms", "p99, ms"], [_row(name, times) for name, times in waits.items()])
    calls = _calls(market)
    table(
        ["in the API, by route", "calls", "p50, ms", "p99, ms"], [_row(name, calls[name], count=True) for name in calls]
    )
    print(
        verdict(
            met=not (lost or doubled or left or (again and not kills)),
            target=f"none lost, none doubled, with {kills} kills",
        )
    )


def _between(request: DataRequest, first: str, then: str) -> float:
    at = {change.action: change.at for change in reversed(request.changes)}
    return (at[then] - at[first]).total_seconds()


def _row(name: str, seconds: list[float], *, count: bool = False) -> list[str]:
    calls = [f"{len(seconds):,}"] if count else []
    return [name, *calls, *(f"{percentile(seconds, percent):,.0f}" for percent in (50, 99))]


def _calls(market: Marketplace) -> dict[str, list[float]]:
    """The seconds of all calls of the API by route, from its log."""
    calls = defaultdict(list)
    for process in market.processes["api"]:
        for line in process.log.read_text(encoding="utf-8", errors="replace").splitlines():
            if '"event": "request"' in line and "/requests" in line:
                record = json.loads(line)
                calls[f"{record['method']} {record['route']}"].append(record["ms"] / 1e3)
    return dict(sorted(calls.items()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=0)
    run(partial(main, parser.parse_args().kills))
