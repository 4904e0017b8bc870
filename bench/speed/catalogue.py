"""How listings, searches and stored answers grow with the catalogue: 10^3 to 10^5 entries, ten answers for each.

The caller is a consumer, who sees 60 % of the entries, or an operator, who sees all. `core` are the milliseconds of a
core that one request takes in the API and in PostgreSQL, which other load hardly changes.

`python -m bench.speed.catalogue --entries 1000 10000 100000`
"""

import argparse
import random
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import httpx
import psutil
import psycopg

from aegis_sdk import Client
from app.platform.database.base import write_token
from bench.measuring import MILLISECONDS, core_seconds, heading, percentile, run, table, timed, verdict
from bench.speed.market import PROVIDER, Marketplace, key, marketplace
from tests import made_up_entries
from tests.copied_catalogue import fill

CONSUMER = "lab"
SHAPE = made_up_entries.Shape(attributes=20, values=20, labels=3, groups=(4, 8))
#: The stored questions about every entry. Callers who may not read its counts get coarse answers, without weights.
QUESTIONS = [{"measure": one} for one in made_up_entries.MEASURES] + [
    {"measure": "g3", "attributes": [f"attribute-{number}" for number in range(most)]} for most in (3, 6, 9)
]
SEVERAL = {"query": "half", "label": "label8", "require": "k=10"}
WORTH = {"sort": "worth", "label": "income", "require": "k=10"}
TIMES, WARM = 200, 20
TARGET = 50.0
#: The timeout of a request in seconds, since the first ones meet cold processes.
PATIENCE = 300.0


@dataclass(frozen=True)
class Kind:
    """A kind of request: its name, and a function that sends one."""

    name: str
    send: Callable[[httpx.Client], httpx.Response]


@dataclass(frozen=True)
class Taken:
    """The seconds of every request of a kind, and the core seconds of all."""

    seconds: list[float]
    core: float

    def cells(self) -> list[str]:
        """The median and the tail of the seconds, and the core seconds of one, in milliseconds."""
        p50, p99 = (percentile(self.seconds, percent) for percent in (50, 99))
        return [f"{p50:.1f}", f"{p99:.1f}", f"{self.core / len(self.seconds) * MILLISECONDS:.1f}"]


def main(sizes: list[int]) -> None:
    heading(f"Requests to a catalogue, one after the other, each {TIMES} times: ms, and ms of a core")
    taken = [_measured(size) for size in sizes]
    columns = chain.from_iterable((f"{size:,}: p50", "p99", "core") for size in sizes)
    rows = [[name, *chain.from_iterable(one[name].cells() for one in taken)] for name in taken[0]]
    table(["request", *columns], rows)
    slowest = max(percentile(one.seconds, 99) for one in taken[-1].values())
    print(verdict(met=slowest <= TARGET, target=f"each p99 <= {TARGET:g} ms"), f"slowest p99: {slowest:.1f} ms")


def _measured(entries: int) -> dict[str, Taken]:
    with marketplace(1, [CONSUMER]) as market:
        _answer(market)
        seconds, _ = timed(partial(fill, market.environment["AEGIS_OWNER_DATABASE_URL"], entries, CONSUMER))
        print(f"({entries:,} entries with {entries * len(QUESTIONS):,} answers: filled in {seconds:.0f} s)", flush=True)
        kinds = list(_kinds(market))
        headers = {"Authorization": f"Bearer {market.keys[CONSUMER]}"}
        with httpx.Client(base_url=market.url, headers=headers, timeout=PATIENCE) as client:
            return {kind.name: _taken(client, kind) for kind in kinds}


def _answer(market: Marketplace) -> None:
    """Publish an entry, and wait for the answers to the questions about it."""
    connected = partial(Client, market.url, timeout=PATIENCE)
    with connected(market.keys[PROVIDER]) as provider, connected(market.keys[CONSUMER]) as consumer:
        head = provider.publish(made_up_entries.entry(SHAPE, "copied"), accept_small_counts=True)
        provider.set_visibility(head.id, "all")
        for question in QUESTIONS:
            consumer.advise(head.id, **question, limit=5)
    market.processes["worker"][0].kill()  # its idle work must not count


def _kinds(market: Marketplace) -> Iterator[Kind]:
    """The kinds of requests. Their random subjects are drawn before the measurement, and are the same in every run."""
    with psycopg.connect(market.environment["AEGIS_OWNER_DATABASE_URL"]) as connection:
        yield from _listings(connection)
        yield from _stored_advice(connection, random.Random(24))
    operator = {"Authorization": f"Bearer {key(market.environment, 'operations', 'operator')}"}
    yield Kind("operator: first page", lambda client: client.get("/v1/entries", headers=operator))
    yield Kind("operator: questions", lambda client: client.get("/v1/questions", headers=operator))


def _listings(connection: psycopg.Connection) -> Iterator[Kind]:
    late = connection.execute(
        "SELECT created_at, id FROM entry ORDER BY created_at, id OFFSET (SELECT count(*) FROM entry) / 20 LIMIT 1"
    ).fetchone()
    asked = {
        "list: first page": {},
        "list: a late page": {"page_token": write_token(*(late or ()))},
        "search: a word of half": {"query": "half"},
        "search: a word of 1 %": {"query": "percent"},
        "search: a word of one": {"query": "single"},
        "search: a word of none": {"query": "nowhere"},
        "search: attribute of 2 %": {"attribute": "attribute77"},
        "search: words, label, k": SEVERAL,
        "worth: first page": WORTH,
        "worth: a late page": WORTH | {"page_token": write_token((2, 0.6, 0.62), uuid.UUID(int=0), "worth")},
        "worth: a label of 5 %": WORTH | {"label": "label5"},
        "worth: attribute of 2 %": WORTH | {"needs": "attribute77"},
        "worth: a word of one": WORTH | {"query": "single"},
    }
    return (Kind(name, partial(_get, "/v1/entries", params)) for name, params in asked.items())


def _stored_advice(connection: psycopg.Connection, chance: random.Random) -> Iterator[Kind]:
    seen = [str(row[0]) for row in connection.execute("SELECT id FROM entry WHERE audience = 'all' ORDER BY name")]
    asked = connection.execute(
        "SELECT q.id FROM question AS q JOIN tenant ON tenant.id = tenant_id WHERE tenant.name = %s LIMIT 10000",
        [CONSUMER],
    ).fetchall()
    yield Kind("stored advice, by question", lambda client: _ask(client, chance.choice(seen), chance.choice(QUESTIONS)))
    yield Kind("stored advice, by id", lambda client: client.get(f"/v1/advice/{chance.choice(asked)[0]}"))


def _get(path: str, params: dict[str, str], client: httpx.Client) -> httpx.Response:
    return client.get(path, params=params)


def _ask(client: httpx.Client, entry: str, question: dict[str, Any]) -> httpx.Response:
    return client.post(f"/v1/entries/{entry}/advice", json=question | {"limit": 5})


def _taken(client: httpx.Client, kind: Kind) -> Taken:
    for _ in range(WARM):
        _check(kind, kind.send(client))
    started = psutil.Process().children()  # the API and PostgreSQL
    before = core_seconds(*started)
    seconds, answers = zip(*(timed(partial(kind.send, client)) for _ in range(TIMES)), strict=True)
    core = core_seconds(*started) - before
    for answer in answers:
        _check(kind, answer)
    return Taken(list(seconds), core)


def _check(kind: Kind, answer: httpx.Response) -> None:
    """Refuse a pending answer or a refusal, which must not be timed as an answer."""
    if answer.status_code != httpx.codes.OK:
        raise RuntimeError(f"{kind.name}: {answer.status_code} {answer.text}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    run(partial(main, parser.parse_args().entries))
