"""One big advice on a pool of workers: how the time falls with workers, and grows with attributes."""

from dataclasses import replace
from functools import partial
from itertools import pairwise
from uuid import uuid4

import httpx
import orjson

from aegis_sdk import Client
from bench import made_up
from bench.advice import MEASURE
from bench.figures import heading, run, table, timed
from bench.service import running_service

#: Bins that overlap without nesting, so that every reference has to be iterated.
BASE = made_up.Shape(values=300, labels=5, groups=(9, 14, 19))
ATTRIBUTES = (50, 100, 200, 400)
WORKERS = (1, 2)
#: Seconds that the service may hold an answer back.
HOLD = 60


def main() -> None:
    heading("One big advice on a pool: the first of a version, over HTTP")
    print(f"{BASE.values} values, {BASE.labels} classes, {len(BASE.groups)} maskings each, s")
    found = {workers: first_advices(workers) for workers in WORKERS}
    rows = []
    for index, size in enumerate(ATTRIBUTES):
        seconds = [found[workers][index] for workers in WORKERS]
        rows.append([f"{size:,}", *(f"{one:.2f}" for one in seconds), f"{seconds[0] / seconds[-1]:.2f}"])
    table(["attributes", *(f"{workers} worker{'s' * (workers > 1)}" for workers in WORKERS), "ratio"], rows)
    for workers, seconds in found.items():
        grown = ", ".join(f"{after / before:.2f}" for before, after in pairwise(seconds))
        print(f"twice the attributes, {workers} worker{'s' * (workers > 1)}: times {grown}")


def first_advices(workers: int) -> list[float]:
    """Seconds from the end of publication to the first advice, for each number of attributes."""
    with running_service(workers) as service, Client(service.url) as client:
        # Every worker computes something before the time is taken.
        first_advice(client, service.url, replace(BASE, attributes=20 * workers))
        return [first_advice(client, service.url, replace(BASE, attributes=size)) for size in ATTRIBUTES]


def first_advice(client: Client, url: str, shape: made_up.Shape) -> float:
    """Seconds that the first question on a version takes, asked as soon as it is published.

    The service holds the answer back until it is there; to look for it again and again would blur the time.
    """
    entry_id = client.publish(orjson.dumps(made_up.entry(shape, f"pool-{uuid4().hex}"))).id
    asking = partial(httpx.post, f"{url}/v1/entries/{entry_id}/advice", json={"measure": MEASURE}, timeout=2 * HOLD)
    seconds, answer = timed(partial(asking, headers={"Prefer": f"wait={HOLD}"}))
    if answer.status_code != httpx.codes.OK:
        raise RuntimeError(f"no answer within {HOLD} s: {answer.status_code}")
    return seconds


if __name__ == "__main__":
    run(main)
