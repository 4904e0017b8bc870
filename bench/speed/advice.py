"""Advice on the example over HTTP: the first of a version, a new question, a stored answer."""

from functools import partial
from uuid import uuid4

import numpy as np

from aegis_sdk import Client
from bench.measuring import MILLISECONDS, heading, percentile, run, spread, timed, verdict
from bench.speed.service import running_service
from tests import example

MEASURE = "mutual_information"
FIRST = 30
REPETITIONS = 200


def main() -> None:
    heading(f"Advice on the example over HTTP ({len(example.plan().configurations)} configurations, 1 worker)")
    with running_service() as service, Client(service.url) as client:
        publish(client)
        first = first_answers(client, FIRST)
        entry_id = publish(client)
        before = service.usage()
        new = new_questions(client, entry_id, REPETITIONS)
        after = service.usage()
        stored = stored_answers(client, entry_id, REPETITIONS)
    print("first of a version", spread(first))
    print("new question      ", spread(new), verdict(met=percentile(new, 50) < 30, target="p50 < 30 ms"))
    spent = {name: (used.seconds - before[name].seconds) / REPETITIONS for name, used in after.items()}
    cores = ", ".join(f"{name} {seconds * MILLISECONDS:.1f}" for name, seconds in spent.items())
    print(f"                   of which busy, ms of a core: {cores}")
    print("stored answer     ", spread(stored), verdict(met=percentile(stored, 50) < 10, target="p50 < 10 ms"))


def publish(client: Client) -> str:
    """Publish the example under a new name, ask once, so that its references are stored, and return its id."""
    entry_id = client.publish(example.entry(f"health-{uuid4().hex}")).id
    client.advise(entry_id, MEASURE)
    return entry_id


def first_answers(client: Client, times: int) -> list[float]:
    """Return the seconds until the answer to a question asked as soon as the version is published."""
    seconds = []
    for _ in range(times):
        entry_id = client.publish(example.entry(f"health-{uuid4().hex}")).id
        seconds.append(timed(partial(client.advise, entry_id, MEASURE))[0])
    return seconds


def new_questions(client: Client, entry_id: str, times: int) -> list[float]:
    """Return the seconds until the answer to new questions, which differ by their weights."""
    rng = np.random.default_rng()
    names = [attribute.name for attribute in example.plan().attributes]
    questions = [dict(zip(names, rng.random(len(names)).tolist(), strict=True)) for _ in range(times)]
    return [timed(partial(client.advise, entry_id, MEASURE, weights=weights))[0] for weights in questions]


def stored_answers(client: Client, entry_id: str, times: int) -> list[float]:
    """Return the seconds until the answer to a question that was answered before."""
    client.advise(entry_id, MEASURE)
    return [timed(partial(client.advise, entry_id, MEASURE))[0] for _ in range(times)]


if __name__ == "__main__":
    run(main)
