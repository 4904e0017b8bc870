"""A 20 MB entry: the speed of its publication, the delay of other requests, and the time of its steps."""

import asyncio
import multiprocessing
import pickle
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from statistics import median
from typing import Any, cast
from uuid import uuid4

import orjson

from aegis_sdk import BadRequestError, Client
from aegis_sdk.wire import EntryDocument
from app.entries.api.uploads import parse_entry, published_entry, read_publication
from app.entries.model.documents import compress, parts_of
from app.entries.model.entries import Head, Publication
from app.entries.service.admission import Admission, SmallCounts, SmallCountsGate
from app.entries.service.checks import sum_faults
from app.entries.service.publications import digest, packed_tables
from app.factory import Factory
from app.platform.callers import DEVELOPER
from app.platform.database.session import Database
from app.platform.process.embedded.server import running_urls
from app.platform.queue.queue import queue_app
from bench.measuring import MEGABYTE, MILLISECONDS, heading, percentile, run, spread, table, timed, verdict
from bench.speed.advice import MEASURE
from bench.speed.service import Service, Usage, probing, running_service
from tests import made_up_entries

#: Bins nest like the levels of a hierarchy, so references have a closed form and leave the cores to the upload.
SHAPE = made_up_entries.Shape(
    attributes=216, values=1024, labels=15, groups=(512, 256, 128, 64, 32, 16), configurations=60, records=400_000
)
TIMES = 5


def main() -> None:
    entry = made_up_entries.entry(SHAPE, "made-up")
    size = len(orjson.dumps(entry)) / MEGABYTE
    maskings = SHAPE.attributes * len(SHAPE.groups)
    heading(f"An entry of {size:.1f} MB ({SHAPE.attributes} attributes, {maskings} maskings), {TIMES} fresh names")
    with running_service() as service, Client(service.url) as client:
        with probing(service.url, "/healthz") as calm:
            time.sleep(2)
        started = service.usage()
        upload_probed(service, client, entry)  # the first meets cold processes and is not counted
        before = service.usage()
        probed = [upload_probed(service, client, entry) for _ in range(TIMES)]
        print_uploads(size, [seconds for seconds, _ in probed])
        print_probes(calm, [seconds for _, probes in probed for seconds in probes])
        print_usage(started, before, service.usage())
        print_parts(service, client, entry)


def upload_probed(service: Service, client: Client, entry: Mapping[str, Any]) -> tuple[float, list[float]]:
    """Return the seconds to publish an entry under a fresh name, and of every probe of `/healthz` meanwhile."""
    body = orjson.dumps({**entry, "name": f"made-up-{uuid4().hex}"})
    with probing(service.url, "/healthz") as probes:
        seconds, head = timed(lambda: client.publish(body))
    client.advise(head.id, MEASURE)  # the worker is idle again before the next one
    return seconds, probes


def print_uploads(size: float, seconds: Sequence[float]) -> None:
    each = ", ".join(f"{one:.2f}" for one in seconds)
    speed = size / median(seconds)
    print(f"published in {each} s: median {speed:.1f} MB/s", verdict(met=speed >= 20, target=">= 20 MB/s"))


def print_probes(calm: Sequence[float], busy: Sequence[float]) -> None:
    print("/healthz, every 10 ms, nothing else going on:", spread(calm))
    met = percentile(busy, 99) < 100
    print("/healthz, every 10 ms, during the uploads:   ", spread(busy), verdict(met=met, target="p99 < 100 ms"))
    print(f"/healthz, the slowest: {max(busy) * 1e3:.1f} ms")


def print_usage(started: Mapping[str, Usage], before: Mapping[str, Usage], after: Mapping[str, Usage]) -> None:
    print("\nMemory of each process, just started and after the uploads, and its core time for an upload")
    rows = [
        [
            name,
            f"{started[name].memory / MEGABYTE:.0f} MB",
            f"{used.memory / MEGABYTE:.0f} MB",
            f"{(used.seconds - before[name].seconds) / TIMES * MILLISECONDS:.0f} ms",
        ]
        for name, used in after.items()
    ]
    table(["process", "started", "after", "each upload"], rows)


def print_parts(service: Service, client: Client, entry: Mapping[str, Any]) -> None:
    """Print the median milliseconds of each step of publishing `entry`."""
    bodies = [orjson.dumps({**entry, "name": f"made-up-{uuid4().hex}"}) for _ in range(TIMES)]
    # In its own process, as in the service: here the garbage collector would also search the benchmark's data.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as child:
        runs = [_steps(service, client, child, body) for body in bodies]
    print(f"\nThe steps of an upload (median of {TIMES}, nothing else going on)")
    table(["step", "ms"], [[step, f"{percentile([run[step] for run in runs], 50):.0f}"] for step in runs[0]])


def _steps(service: Service, client: Client, child: ProcessPoolExecutor, body: bytes) -> dict[str, float]:
    """Return the seconds of every step."""
    inside = child.submit(_steps_in_child, body).result()
    whole, publication = child.submit(_timed_publication, body).result()
    storing, head = timed(lambda: asyncio.run(_store(service, publication)))
    client.advise(head.id, MEASURE)  # the worker is idle again afterwards
    return inside | {
        "these together, as the service calls them": whole,
        "body to the child (one that is not JSON)": timed(lambda: _refused(client, b"!" + body))[0],
        "result back, pickled": timed(lambda: pickle.loads(pickle.dumps(publication)))[0],
        "database, with a new connection": storing,
    }


def _steps_in_child(body: bytes) -> dict[str, float]:
    """Return the seconds of each step in the API's child process, where the last three run beside the checks."""
    parsing, document = timed(lambda: parse_entry(body))
    validating, model = timed(lambda: EntryDocument.model_validate(document))
    typing, entry = timed(lambda: published_entry(model, cast("dict[str, Any]", document)))
    schema, _ = parts_of(entry.document)
    return {
        "parse, counts to arrays": parsing,
        "validate": validating,
        "models to domain": typing,
        "check the sums": timed(lambda: sum_faults(entry))[0],
        "pack the counts": timed(lambda: list(packed_tables(entry)))[0],
        "compress the schema": timed(lambda: compress(schema))[0],
        "digest": timed(lambda: digest(entry.document))[0],
    }


def _timed_publication(body: bytes) -> tuple[float, Publication]:
    return timed(lambda: read_publication(body))


async def _store(service: Service, publication: Publication) -> Head:
    """Publish without HTTP, in a transaction on its own connection."""
    urls = running_urls(service.data_dir)
    if urls is None:
        raise RuntimeError("the service's database is not running")
    database, admission = Database(urls.service, pool_size=1), Admission(SmallCountsGate(SmallCounts.ACCEPT))
    async with database.transaction() as session:
        catalogue = Factory(session, queue_app(urls.service)).catalogue()
        published = await catalogue.publish(DEVELOPER, publication, admission)
    await database.close()
    return published.head


def _refused(client: Client, body: bytes) -> None:
    """Send a body that travels like an entry and is refused at its first byte."""
    try:
        client.publish(body)
    except BadRequestError:
        return
    raise RuntimeError("the service accepted a body that is not JSON")


if __name__ == "__main__":
    run(main)
