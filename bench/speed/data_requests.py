"""Data requests under load: consumers ask, agents approve and deliver, and processes are killed meanwhile.

`python -m bench.speed.data_requests --kills 100` kills agents, workers and the API in turn, which are started again.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import numpy as np

from aegis_provider import load_plan, prepare_entry
from aegis_sdk import Client, ServiceUnreachableError, UnavailableError
from aegis_sdk.wire import DataRequest, Head
from app.process.embedded import EmbeddedPostgres
from bench.measuring import heading, percentile, run, table, verdict

CONSUMERS, AGENTS, WORKERS = 20, 5, 2
#: Requests of each consumer, and how many of them are for the large table.
EACH, LARGE = 10, 1
#: Records of the tables: 200 KB and 20 MB as CSV.
RECORDS = {"small": 7_000, "large": 700_000}
ATTRIBUTES = 8
#: Seconds until another agent takes over.
LEASE = 10
PATIENCE = 1_800.0


def main(kills: int = 0) -> None:
    heading(f"Data requests: {CONSUMERS} consumers, {AGENTS} agents, {WORKERS} workers, {kills} kills")
    with tempfile.TemporaryDirectory(prefix="aegis-bench-") as name, ExitStack() as stack:
        place = Path(name)
        place.chmod(0o711)  # started by root, PostgreSQL runs as another user, who needs to pass through
        market = stack.enter_context(_market(place))
        killer = threading.Thread(target=market.kill, args=(kills,), daemon=True)
        killer.start()
        begun = time.monotonic()
        with ThreadPoolExecutor(CONSUMERS) as consumers:
            ended = [each for done in consumers.map(partial(_consumer, market), range(CONSUMERS)) for each in done]
        seconds = time.monotonic() - begun
        killer.join()
        market.stop()
        _report(market, ended, seconds, kills)


@dataclass
class Process:
    """A process that is started again when it is killed, and its log."""

    command: list[str]
    log: Path
    environment: dict[str, str]
    running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, now or again."""
        with self.log.open("ab") as log:
            self.running = subprocess.Popen(
                self.command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.environment
            )

    def kill(self) -> None:
        """Kill it."""
        if self.running is not None:
            self.running.kill()
            self.running.wait()


@dataclass
class Market:
    """The service, the agents and the storage.

    Attributes:
        url: The service.
        shared: The directory of the provider's storage.
        entries: The entries, `small` and `large`.
        processes: What can be killed, by its kind.
        killed: How often which kind was killed.
    """

    url: str
    shared: Path
    entries: dict[str, Head] = field(default_factory=dict)
    processes: dict[str, list[Process]] = field(default_factory=dict)
    killed: Counter[str] = field(default_factory=Counter)
    ended: threading.Event = field(default_factory=threading.Event)

    def kill(self, kills: int) -> None:
        """Kill a random process of each kind in turn, and start it again."""
        chance = random.Random(22)
        for number in range(kills):
            kind = ("agent", "worker", "api")[number % 3]
            process = chance.choice(self.processes[kind])
            process.kill()
            process.start()
            self.killed[kind] += 1
            if self.ended.wait(chance.uniform(0.5, 2.5)):
                return

    def stop(self) -> None:
        """End all processes."""
        self.ended.set()
        for process in (each for every in self.processes.values() for each in every):
            process.kill()


@contextmanager
def _market(place: Path) -> Iterator[Market]:
    (place / "shared").mkdir()
    with EmbeddedPostgres(place / "data") as postgres, _served(place / "shared") as link:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("AEGIS_")}
        environment |= {"AEGIS_DATABASE_URL": postgres.url, "AEGIS_LINKS_ALLOW_PRIVATE": "true", "AEGIS_PORT": _port()}
        market = Market(f"http://127.0.0.1:{environment['AEGIS_PORT']}", place / "shared")
        environment["AEGIS_URL"] = market.url
        server = [sys.executable, "-m", "app.cli"]
        subprocess.run([*server, "migrate"], env=environment, check=True, stdout=subprocess.DEVNULL)

        def started(kind: str, number: int, command: list[str]) -> Process:
            process = Process(command, place / f"{kind}-{number}.log", environment)
            process.start()
            return process

        market.processes["api"] = [started("api", 0, [*server, "api"])]
        market.processes["worker"] = [started("worker", number, [*server, "worker"]) for number in range(WORKERS)]
        try:
            _wait_until_ready(market.url)
            policy = _published(market, place, link)
            agent = [sys.executable, "-m", "aegis_sdk.cli", "agent", "--policy", str(policy), "--lease", str(LEASE)]
            market.processes["agent"] = [
                started("agent", number, [*agent, "--work", str(place / f"work-{number}"), "--json"])
                for number in range(AGENTS)
            ]
            yield market
        finally:
            market.stop()


def _published(market: Market, place: Path, link: str) -> Path:
    """Publish an entry for each table, and return the agents' policy."""
    maskings = ", ".join(f"a{number}: tens" for number in range(ATTRIBUTES))
    attributes = "".join(
        f"  a{number}: {{type: integer, maskings: {{tens: {{bucketize: {{width: 25}}}}, gone: {{suppress: {{}}}}}}}}\n"
        for number in range(ATTRIBUTES)
    )
    gone = ", ".join(f"a{number}: {'tens' if number else 'gone'}" for number in range(ATTRIBUTES))
    plan = f"label: label\nattributes:\n{attributes}configurations:\n  c1: {{{maskings}}}\n  c2: {{{gone}}}\n"
    (place / "plan.yaml").write_text(plan)
    entries = ""
    with Client(market.url) as client:
        for name, records in RECORDS.items():
            _write_table(place / f"{name}.csv", records)
            prepared = prepare_entry(place / f"{name}.csv", load_plan(place / "plan.yaml"), name=name)
            market.entries[name] = client.publish(prepared.entry, accept_small_counts=True)
            entries += f"  {name}: {{table: {name}.csv, plan: plan.yaml}}\n"
    policy = place / "policy.yaml"
    policy.write_text(f"to: shared\nlink: {link}\nentries:\n{entries}approve:\n- {{tenants: any, require: {{}}}}\n")
    return policy


def _write_table(path: Path, records: int) -> None:
    chance = np.random.default_rng(22)
    values = chance.integers(0, 100, (records, ATTRIBUTES))
    label = (values.sum(axis=1) + chance.normal(0, 60, records) > 50 * ATTRIBUTES).astype(int)
    header = ",".join([*(f"a{number}" for number in range(ATTRIBUTES)), "label"])
    np.savetxt(path, np.column_stack([values, label]), fmt="%02d", delimiter=",", header=header, comments="")


def _consumer(market: Market, number: int) -> list[DataRequest]:
    """Ask for all tables of a consumer one after the other, and check each delivery."""
    ended = []
    with Client(market.url) as client:
        for turn in range(EACH):
            name = "large" if turn < LARGE else "small"
            attributes = [f"a{(number + turn + step) % ATTRIBUTES}" for step in range(2 + turn % 5)]
            made = _persistently(partial(_asked, client, market.entries[name], attributes))
            ended.append(_persistently(partial(_received, client, made.id)))
    return ended


def _asked(client: Client, head: Head, attributes: list[str]) -> DataRequest:
    asked = {"purpose": "a study of care", "contact": "me@lab.example", "terms": head.terms}
    return client.requests.create(head.id, "mutual_information", **asked, attributes=attributes)


def _received(client: Client, request_id: str) -> DataRequest:
    """Wait for the delivery of a request, and check the file."""
    while (request := client.requests.get(request_id)).delivery is None:
        time.sleep(0.5)
    content = httpx.get(request.delivery.url, timeout=60).content
    if hashlib.sha256(content).hexdigest() != request.delivery.sha256:
        raise RuntimeError(f"{request_id}: the file that was delivered has another digest")
    return request


def _persistently(work: partial[DataRequest]) -> DataRequest:
    """The result of some work, tried again while the service does not answer."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return work()
        except (ServiceUnreachableError, UnavailableError, httpx.HTTPError):
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


def _report(market: Market, ended: list[DataRequest], seconds: float, kills: int) -> None:
    delivered = [sum(change.action == "deliver" for change in each.changes) for each in ended]
    files = Counter(path.name[:36] for path in market.shared.iterdir())
    lost = CONSUMERS * EACH - len({each.id for each in ended})
    doubled = sum(number > 1 for number in delivered)
    left = sum(files.values()) - len(ended)
    large = CONSUMERS * LARGE
    print(f"{len(ended)} requests, {large} of them for 20 MB, were delivered and checked in {seconds:.0f} s;")
    print(f"killed: {dict(market.killed) or 'nothing'}.")
    print(f"lost: {lost}; delivered twice: {doubled}; files in the storage that nobody was told of: {left}")
    waits = {
        "from the request to its advice": [_between(each, "request", "advise") for each in ended],
        "from the advice to its approval": [_between(each, "advise", "approve") for each in ended],
        "from the approval to the delivery": [_between(each, "approve", "deliver") for each in ended],
    }
    table(["by the service's clock", "p50, ms", "p99, ms"], [_row(name, times) for name, times in waits.items()])
    calls = _calls(market)
    table(
        ["in the API, by route", "calls", "p50, ms", "p99, ms"], [_row(name, calls[name], count=True) for name in calls]
    )
    print(verdict(met=lost == doubled == 0, target=f"none lost, none doubled, with {kills} kills"))


def _between(request: DataRequest, first: str, then: str) -> float:
    at = {change.action: change.at for change in reversed(request.changes)}
    return (at[then] - at[first]).total_seconds()


def _row(name: str, seconds: list[float], *, count: bool = False) -> list[str]:
    calls = [f"{len(seconds):,}"] if count else []
    return [name, *calls, *(f"{percentile(seconds, percent):,.0f}" for percent in (50, 99))]


def _calls(market: Market) -> dict[str, list[float]]:
    """The seconds of each call that the API has answered, by its route: what its log says."""
    calls = defaultdict(list)
    for process in market.processes["api"]:
        for line in process.log.read_text(encoding="utf-8", errors="replace").splitlines():
            if '"event": "request"' in line and "/requests" in line:
                told = json.loads(line)
                calls[f"{told['method']} {told['route']}"].append(told["ms"] / 1e3)
    return dict(sorted(calls.items()))


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """Serve the files of a folder, and yield the address."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def _port() -> str:
    """A free port, which the API takes again whenever it is started."""
    with ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        return str(server.server_address[1])


def _wait_until_ready(url: str) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            if httpx.get(f"{url}/readyz").is_success:
                return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise TimeoutError(f"{url} is not ready")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=0)
    run(partial(main, parser.parse_args().kills))
