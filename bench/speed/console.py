"""Pages of the console for large entries and a large catalogue: how long the service takes, and how much of that it
computes.

`python -m bench.speed.console --entries 100000`
"""

import argparse
import asyncio
import logging
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import httpx
import numpy as np
import orjson
import psycopg
import structlog

from app.catalog import migrations
from app.catalog.roles import DatabaseUrls
from app.main import create_app
from app.process.embedded import EmbeddedPostgres
from app.settings import Settings
from bench import made_up_entries
from bench.made_up_entries import Shape
from bench.measuring import heading, percentile, run, table, verdict
from bench.speed.searches import FILLED

TIMES, WARM = 40, 5
TARGET, CATALOGUE_TARGET = 30.0, 60.0
BROWSER = {"Accept": "text/html"}

SHAPES = {
    "usual": Shape(attributes=12, values=40, groups=(3, 6), configurations=200),
    "10^4 attributes": Shape(attributes=10_000, values=12, labels=2, groups=(2, 4), configurations=100),
    "10^5 configurations": Shape(attributes=20, values=100, configurations=100_000),
    "10^4 attributes, 500 configurations": Shape(
        attributes=10_000, values=4, labels=2, groups=(2,), configurations=500
    ),
}
PARTS = {
    "entry": "",
    "later page": "?attributes=3&configurations=3",
    "attribute": "/attribute?name=attribute-7",
    "configuration": "/configuration?place=77",
    "counts": "/counts?attribute=attribute-7",
}
CATALOGUE = {"catalogue": "/", "words": "/?query=half", "k": "/?criterion=k&limit=500", "label": "/?label=label7"}


def main(entries: int) -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory(prefix="aegis-bench-") as name:
        Path(name).chmod(0o711)  # started by root, PostgreSQL runs as another user, who needs to pass through
        with EmbeddedPostgres(Path(name) / "data") as postgres:
            migrations.upgrade(postgres.urls)
            asyncio.run(_measure(postgres.urls, entries))


async def _measure(urls: DatabaseUrls, entries: int) -> None:
    heading("Pages of the console: milliseconds of the service, one after the other, without a network")
    async with _service(urls.service) as client:
        _report([row async for row in _entry_pages(client)], TARGET)
        if entries:
            _fill(urls.owner, entries)
            _report([await _page(client, "", part, path) for part, path in CATALOGUE.items()], CATALOGUE_TARGET)


def _report(rows: list[tuple[list[str], float]], target: float) -> None:
    table(["entry", "page", "kB", "first", "p50", "computing"], [row for row, _ in rows])
    slowest = max(median for _, median in rows)
    print(verdict(met=slowest <= target, target=f"each p50 <= {target:g} ms"), f"slowest: {slowest:.1f} ms")


@asynccontextmanager
async def _service(database_url: str) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(Settings(database_url=database_url))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=300) as client:
            yield client


async def _entry_pages(client: httpx.AsyncClient) -> AsyncIterator[tuple[list[str], float]]:
    for number, (name, shape) in enumerate(SHAPES.items()):
        document = made_up_entries.entry(shape, f"entry-{number}")
        rng = np.random.default_rng(17)
        document["configuration_table"]["privacy"] = {"k": rng.integers(1, 100, shape.configurations).tolist()}
        body = orjson.dumps(document)
        headers = {"Content-Type": "application/json"}
        answer = await client.post("/v1/entries?accept_small_counts=true", content=body, headers=headers)
        entry = answer.raise_for_status().json()["id"]
        for part, path in PARTS.items():
            yield await _page(client, name, part, f"/entries/{entry}{path}")


async def _page(client: httpx.AsyncClient, name: str, part: str, path: str) -> tuple[list[str], float]:
    """A row about a page, and its median."""
    seconds, computing, size = [], [], 0
    for _ in range(WARM + TIMES):
        start, started = time.perf_counter(), time.process_time()
        answer = await client.get(path, headers=BROWSER)
        seconds.append(time.perf_counter() - start)
        computing.append(time.process_time() - started)
        size = len(answer.raise_for_status().content)
    median = percentile(seconds[WARM:], 50)
    figures = f"{seconds[0] * 1e3:.0f}", f"{median:.1f}", f"{percentile(computing[WARM:], 50):.1f}"
    return [name, part, f"{size / 1e3:.0f}", *figures], median


def _fill(database_url: str, entries: int) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        for statement in FILLED:
            connection.execute(statement, {"entries": entries})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=100_000)
    run(partial(main, parser.parse_args().entries))
