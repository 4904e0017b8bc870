"""Where the time of an upload goes: the functions that the service calls, one after the other, where it calls them."""

import asyncio
import multiprocessing
import pickle
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Any, cast
from uuid import uuid4

import orjson

from aegis_sdk import BadRequestError, Client
from aegis_sdk.wire import EntryDocument
from app.api.published import published_entry
from app.api.uploads import parse_entry, read_publication
from app.catalog.embedded import running_url
from app.catalog.queue import queue_app
from app.catalog.session import Database
from app.domain.callers import DEVELOPER
from app.domain.documents import compress, parts_of
from app.domain.entries import Head, Publication
from app.factory import Factory
from app.services.digests import digest
from app.services.publications import packed_tables, sum_faults
from bench.advice import MEASURE
from bench.figures import percentile, table, timed
from bench.service import Service

TIMES = 5


def print_parts(service: Service, client: Client, entry: Mapping[str, Any]) -> None:
    """Print the median milliseconds of each step of publishing `entry`."""
    bodies = [orjson.dumps({**entry, "name": f"made-up-{uuid4().hex}"}) for _ in range(TIMES)]
    # A process of their own, as in the service: here the collector would search what the benchmark holds as well.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as child:
        runs = [_steps(service, client, child, body) for body in bodies]
    print(f"\nThe steps of an upload (median of {TIMES}, nothing else going on)")
    table(["step", "ms"], [[step, f"{percentile([run[step] for run in runs], 50):.0f}"] for step in runs[0]])


def _steps(service: Service, client: Client, child: ProcessPoolExecutor, body: bytes) -> dict[str, float]:
    """Seconds of every step."""
    inside = child.submit(_steps_in_child, body).result()
    whole, publication = child.submit(_timed_publication, body).result()
    storing, head = timed(lambda: asyncio.run(_store(service, publication)))
    client.advise(head.id, MEASURE)  # the worker is idle again afterwards
    return inside | {
        "these together, as the service calls them": whole,
        "body to the child (one that is no JSON)": timed(lambda: _refused(client, b"!" + body))[0],
        "result back, pickled": timed(lambda: pickle.loads(pickle.dumps(publication)))[0],
        "database, with a new connection": storing,
    }


def _steps_in_child(body: bytes) -> dict[str, float]:
    """Seconds of what the API's child process does with a body. The last three run beside the checks there."""
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
    """Publish without HTTP, in a transaction on a connection of its own."""
    url = running_url(service.data_dir)
    if url is None:
        raise RuntimeError("the service's database does not run")
    database = Database(url, pool_size=1)
    async with database.transaction() as session:
        head = await Factory(session, queue_app(url)).cataloguing().publish(DEVELOPER, publication)
    await database.close()
    return head


def _refused(client: Client, body: bytes) -> None:
    """Send what travels like an entry and is refused at its first byte."""
    try:
        client.publish(body)
    except BadRequestError:
        return
    raise RuntimeError("a body that is no JSON was accepted")
