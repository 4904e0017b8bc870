"""Where the time of an upload goes: the functions that the service calls, one after the other."""

import asyncio
import pickle
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import orjson

from aegis_sdk import BadRequestError, Client
from aegis_sdk.wire import read_entry
from app.api.bodies import read_publication
from app.catalog.embedded import running_url
from app.catalog.queue import queue_app
from app.catalog.session import Database
from app.domain.callers import DEVELOPER
from app.domain.documents import compress, counts_to_arrays, split
from app.domain.entries import Head, Publication
from app.factory import Factory
from app.services.digests import digest
from app.services.evidence import evidence_faults, evidence_of
from bench.advice import MEASURE
from bench.figures import percentile, table, timed
from bench.service import Service

TIMES = 5


def print_parts(service: Service, client: Client, entry: Mapping[str, Any]) -> None:
    """Print the median milliseconds of each step of publishing `entry`."""
    runs = []
    for _ in range(TIMES):
        body = orjson.dumps({**entry, "name": f"made-up-{uuid4().hex}"})
        runs.append(_steps_in_child(body) | _steps_around_it(service, client, body))
    print(f"\nThe steps of an upload (median of {TIMES}, each run alone)")
    table(["step", "ms"], [[step, f"{percentile([run[step] for run in runs], 50):.0f}"] for step in runs[0]])


def _steps_in_child(body: bytes) -> dict[str, float]:
    """Seconds of what the API's child process does with the body."""
    reading, (document, _) = timed(lambda: read_entry(body))
    converting = timed(lambda: counts_to_arrays(document))[0]
    finding = timed(lambda: evidence_faults(evidence_of(document)))[0]
    packing, (schema, _, _) = timed(lambda: split(document))
    return {
        "parse and validate": reading,
        "counts to arrays": converting,
        "find faults": finding,
        "pack the counts": packing,
        "compress the schema": timed(lambda: compress(schema))[0],
        "digest": timed(lambda: digest(document))[0],
    }


def _steps_around_it(service: Service, client: Client, body: bytes) -> dict[str, float]:
    """Seconds of the child's work as a whole, and of the ways in and out of it."""
    whole, publication = timed(lambda: read_publication(body))
    back = timed(lambda: pickle.loads(pickle.dumps(publication)))[0]
    store, head = timed(lambda: asyncio.run(_store(service, publication)))
    client.advise(head.id, MEASURE)  # the worker is idle again afterwards
    return {
        "all of the child's steps": whole,
        "body to the child (one that is no JSON)": timed(lambda: _refused(client, b"!" + body))[0],
        "publication back, pickled": back,
        "database, with a new connection": store,
    }


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
