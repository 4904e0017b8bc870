"""One large advice on a pool of workers: the time by number of workers and of attributes."""

from dataclasses import replace
from functools import partial
from itertools import pairwise
from uuid import uuid4

import httpx
import orjson

from aegis_sdk import Client
from bench.measuring import heading, run, table, timed
from bench.speed.advice import MEASURE
from bench.speed.service import Service, running_service
from tests import made_up_entries

BASE = made_up_entries.Shape(values=300, labels=5, groups=(12, 20, 30, 50), ordered=False)
ATTRIBUTES = (100, 200, 400, 800)
#: Seconds that the service may wait with its answer.
HOLD = 60


def main() -> None:
    heading("One large advice on a pool: the first of a version, over HTTP")
    print(f"{BASE.values} values, {BASE.labels} classes, {len(BASE.groups)} maskings each. Seconds to the answer, and")
    print("(in brackets) the core seconds that all workers spent on it")
    by_one, by_two = first_advices(1), first_advices(2)
    rows = [
        [f"{size:,}", *map(_cell, (one, other)), f"{one[0] / other[0]:.2f}"]
        for size, one, other in zip(ATTRIBUTES, by_one, by_two, strict=True)
    ]
    table(["attributes", "1 worker", "2 workers", "ratio"], rows)
    for name, figures in (("1 worker", by_one), ("2 workers", by_two)):
        grown = ", ".join(f"{after / before:.2f}" for (before, _), (after, _) in pairwise(figures))
        print(f"twice the attributes, {name}: times {grown}")


def first_advices(workers: int) -> list[tuple[float, float]]:
    """Return the seconds to the first advice and the workers' core seconds, for each number of attributes."""
    with running_service(workers) as service, Client(service.url) as client:
        # Every worker computes something before the measurement.
        first_advice(client, service, replace(BASE, attributes=20 * workers))
        return [first_advice(client, service, replace(BASE, attributes=size)) for size in ATTRIBUTES]


def first_advice(client: Client, service: Service, shape: made_up_entries.Shape) -> tuple[float, float]:
    """Return the seconds of the first question on a version, asked at publication, and the workers' core seconds.

    The service waits with its answer until the advice is there; polling would blur the time.
    """
    before = service.worker_seconds()
    entry_id = client.publish(orjson.dumps(made_up_entries.entry(shape, f"pool-{uuid4().hex}"))).id
    asking = partial(httpx.post, f"{service.url}/v1/entries/{entry_id}/advice", timeout=2 * HOLD)
    seconds, answer = timed(partial(asking, json={"measure": MEASURE}, headers={"Prefer": f"wait={HOLD}"}))
    if answer.status_code != httpx.codes.OK:
        raise RuntimeError(f"no answer within {HOLD} s: {answer.status_code}")
    return seconds, service.worker_seconds() - before


def _cell(figures: tuple[float, float]) -> str:
    return f"{figures[0]:.2f} ({figures[1]:.1f})"


if __name__ == "__main__":
    run(main)
