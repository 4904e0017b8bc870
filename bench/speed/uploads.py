"""Concurrent uploads of large entries, with a small one beside them.

`check` is the core seconds of the API's child processes, which check entries; as many run at once as there are cores.

`python -m bench.speed.uploads`
"""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from statistics import median
from uuid import uuid4

import orjson

from aegis_sdk import Client
from bench.measuring import MEGABYTE, heading, run, table
from bench.speed.entries import SHAPE
from bench.speed.service import Service, running_service
from tests import made_up_entries

#: Half as many attributes as in `entries`, and an entry like the example.
LARGE, SMALL = replace(SHAPE, attributes=108), made_up_entries.Shape(attributes=8, values=40)
TIMES = 5


def main() -> None:
    bodies = {
        name: orjson.dumps(made_up_entries.entry(shape, "name-of-the-entry"))
        for name, shape in (("large", LARGE), ("small", SMALL))
    }
    sizes = ", ".join(f"{name}: {len(body) / MEGABYTE:.2f} MB" for name, body in bodies.items())
    heading(f"Entries that are uploaded at the same time ({sizes}); seconds, medians of {TIMES}")
    with running_service(workers=0) as service, Client(service.url, timeout=600) as client:
        _uploaded(service, client, [bodies["large"]] * 2)  # the first ones meet cold processes, and are not counted
        rows = [
            _row(service, client, name, [bodies[size] for size in each_of])
            for name, each_of in (
                ("a large one", ["large"]),
                ("two large ones", ["large"] * 2),
                ("four large ones", ["large"] * 4),
                ("a small one", ["small"]),
                ("a small one behind two large ones", ["large", "large", "small"]),
            )
        ]
    table(["uploaded", "all, from the first start", "the last of the list, from its own", "check"], rows)


def _row(service: Service, client: Client, name: str, bodies: list[bytes]) -> list[str]:
    runs = [_uploaded(service, client, bodies) for _ in range(TIMES)]
    return [name, *(f"{median(one[place] for one in runs):.2f}" for place in range(3))]


def _uploaded(service: Service, client: Client, bodies: list[bytes]) -> tuple[float, float, float]:
    """The seconds from the first start until all are published, those of the last one, and core seconds of checks."""
    before = service.usage_of_api_children()
    with ThreadPoolExecutor(len(bodies)) as pool:
        uploads = []
        for body in bodies:
            named = body.replace(b"name-of-the-entry", uuid4().hex.encode(), 1)
            uploads.append(pool.submit(_published, client, named))
            time.sleep(0.05)  # they arrive in this order
        starts, ends = zip(*(upload.result() for upload in uploads), strict=True)
    return max(ends) - starts[0], ends[-1] - starts[-1], service.usage_of_api_children() - before


def _published(client: Client, body: bytes) -> tuple[float, float]:
    """The begin and the end of the upload of an entry."""
    start = time.perf_counter()
    client.publish(body, accept_small_counts=True)
    return start, time.perf_counter()


if __name__ == "__main__":
    run(main)
