"""A 20 MB entry: how fast it is published, what everybody else feels meanwhile, and where the time goes."""

import time
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any
from uuid import uuid4

import orjson

from aegis_sdk import Client
from bench import made_up
from bench.advice import MEASURE
from bench.figures import MEGABYTE, MILLISECONDS, heading, percentile, run, spread, table, timed, verdict
from bench.probe import probing
from bench.service import Service, Usage, running_service
from bench.upload_parts import print_parts

#: Bins that nest, as the levels of a hierarchy do: the references have a closed form and leave the cores to the upload.
SHAPE = made_up.Shape(
    attributes=216, values=1024, labels=15, groups=(512, 256, 128, 64, 32, 16), configurations=60, records=400_000
)
TIMES = 5


def main() -> None:
    entry = made_up.entry(SHAPE, "made-up")
    size = len(orjson.dumps(entry)) / MEGABYTE
    maskings = SHAPE.attributes * len(SHAPE.groups)
    heading(f"An entry of {size:.1f} MB ({SHAPE.attributes} attributes, {maskings} maskings), {TIMES} fresh names")
    with running_service() as service, Client(service.url) as client:
        with probing(service.url, "/healthz") as calm:
            time.sleep(2)
        started = service.usage()
        upload_probed(service, client, entry)  # the first finds cold processes and is not counted
        before = service.usage()
        probed = [upload_probed(service, client, entry) for _ in range(TIMES)]
        print_uploads(size, [seconds for seconds, _ in probed])
        print_probes(calm, [seconds for _, probes in probed for seconds in probes])
        print_usage(started, before, service.usage())
        print_parts(service, client, entry)


def upload_probed(service: Service, client: Client, entry: Mapping[str, Any]) -> tuple[float, list[float]]:
    """Seconds to publish an entry under a fresh name, and those of every probe of `/healthz` meanwhile."""
    body = orjson.dumps({**entry, "name": f"made-up-{uuid4().hex}"})
    with probing(service.url, "/healthz") as probes:
        seconds, head = timed(lambda: client.publish(body))
    client.advise(head.id, MEASURE)  # the worker is idle again before the next one
    return seconds, probes


def print_uploads(size: float, seconds: Sequence[float]) -> None:
    each = ", ".join(f"{one:.2f}" for one in seconds)
    speed = size / median(seconds)
    print(f"published in {each} s: median {speed:.1f} MB/s", verdict(met=speed >= 15, target=">= 15 MB/s"))


def print_probes(calm: Sequence[float], busy: Sequence[float]) -> None:
    print("/healthz, every 10 ms, nothing else going on:", spread(calm))
    met = percentile(busy, 99) < 100
    print("/healthz, every 10 ms, during the uploads:   ", spread(busy), verdict(met=met, target="p99 < 100 ms"))
    print(f"/healthz, the slowest: {max(busy) * 1e3:.1f} ms")


def print_usage(started: Mapping[str, Usage], before: Mapping[str, Usage], after: Mapping[str, Usage]) -> None:
    print("\nMemory of each process, just started and after the uploads, and the time of a core that an upload took it")
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


if __name__ == "__main__":
    run(main)
