"""The contents of the console's pages in benchmarks: entries, answers, requests and records."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import psycopg

from aegis_sdk import Client
from aegis_sdk.wire import DataRequest, DeliveryDescriptor, DeliveryVerdict, Head
from bench.speed.market import PROVIDER, Marketplace
from tests import made_up_entries
from tests.copied_catalogue import FILLED
from tests.made_up_entries import Shape

CONSUMER = "lab"
#: The most rows of an answer.
MOST_ROWS = 10_000
#: The question, about few attributes, since reconstructing 10^4 takes minutes.
MEASURE, ASKED = "mutual_information", [f"attribute-{number}" for number in range(12)]
#: Seconds to wait for the service, also on a busy machine.
PATIENCE = 1_800.0

#: The 10^5 entries of the catalogue are copies of the first one.
SHAPES = {
    "usual": Shape(attributes=12, values=40, groups=(3, 6), configurations=200),
    "10^4 attributes": Shape(attributes=10_000, values=12, labels=2, groups=(2, 4), configurations=100),
    "10^5 configurations": Shape(attributes=20, values=100, configurations=100_000),
}

_COPIED = """
INSERT INTO {table} SELECT (jsonb_populate_record(one, jsonb_build_object({changes}))).*
FROM {table} AS one, generate_series(1, {number}) AS n WHERE id = (SELECT id FROM {table} WHERE {which} LIMIT 1)
"""

# All requests are from one consumer to one provider, so both list all of them.
_REQUESTS = _COPIED.format(
    table="data_request",
    changes="'id', gen_random_uuid(), 'created_at', now() - n * interval '1 minute', 'changed_at', now(), "
    "'state', (ARRAY['advised', 'declined', 'withdrawn', 'ended'])[1 + n %% 4]",
    number="%(requests)s",
    which="state = 'advised'",
)
_ADVICE = _COPIED.format(
    table="advice",
    changes="'id', gen_random_uuid(), 'question_digest', '\\x' || md5(n::text), 'result', NULL, 'status', 'failed'",
    number="%(questions)s",
    which="status = 'succeeded'",
)
_QUESTIONS = """
INSERT INTO question (id, advice_id, tenant_id, view, created_at)
SELECT gen_random_uuid(), id, (SELECT id FROM tenant WHERE name = 'lab'), 'coarse', created_at - interval '1 day'
FROM advice WHERE status = 'failed'
"""
_KEYS = """
INSERT INTO api_key (tenant_id, role, prefix, key_hash)
SELECT (SELECT min(id) FROM tenant WHERE name LIKE 'other-%%') + n %% 50, 'consumer', 'aegis_' || md5(n::text),
    sha256(convert_to(n::text, 'UTF8'))
FROM generate_series(1, %(keys)s) AS n
"""
_RECORDS = """
INSERT INTO audit_record (at, action, tenant, subject, entry_id, version)
SELECT now() - (%(records)s - n) * interval '1 second', 'entry.publish', 'other-' || n %% 50, 'key' || n %% 50,
    gen_random_uuid(), 1
FROM generate_series(1, %(records)s) AS n
"""
_FILLED = (*FILLED[:-1], _REQUESTS, _ADVICE, _QUESTIONS, _KEYS, _RECORDS, FILLED[-1])


@dataclass(frozen=True)
class Many:
    """The numbers of listed things."""

    entries: int = 100_000
    requests: int = 10_000
    questions: int = 10_000
    keys: int = 1_000
    records: int = 100_000


@dataclass(frozen=True)
class Contents:
    """The contents to show.

    Attributes:
        entries: the ids of entries by the name of their shape.
        answers: the ids of answers by caller and name of the shape; those on 10^5 configurations have 10,000 rows.
        requests: the id of a request by state.
    """

    entries: Mapping[str, str]
    answers: Mapping[tuple[str, str], str]
    requests: Mapping[str, str]


def made(market: Marketplace, many: Many) -> Contents:
    """Publish entries, ask, request, and fill the database; return when the worker is idle."""
    provider, consumer = (Client(market.url, market.keys[one], timeout=PATIENCE) for one in (PROVIDER, CONSUMER))
    with provider, consumer:
        heads = {name: _published(provider, name) for name in SHAPES}
        answers = {
            (tenant, name): client.advise(head.id, MEASURE, attributes=ASKED, limit=MOST_ROWS, wait=PATIENCE).id
            for tenant, client in ((PROVIDER, provider), (CONSUMER, consumer))
            for name, head in heads.items()
        }
        requests = _requested(provider, consumer, heads["usual"])
    with psycopg.connect(market.environment["AEGIS_OWNER_DATABASE_URL"], autocommit=True) as connection:
        for statement in _FILLED:
            connection.execute(statement, vars(many))
    return Contents({name: head.id for name, head in heads.items()}, answers, requests)


def _published(provider: Client, name: str) -> Head:
    shape = SHAPES[name]
    document = made_up_entries.entry(shape, f"entry-{[*SHAPES].index(name)}")
    document["title"] = name
    chance = np.random.default_rng(17)
    maskings = document["configuration_table"]["maskings"]
    shared = sum(np.array(column) != "drop" for column in maskings.values())
    # A configuration that shares more has smaller classes.
    numbers = np.maximum(2, chance.integers(2, 100, shape.configurations) - 2 * shared)
    document["configuration_table"]["privacy"] = {"k": numbers.tolist()}
    head = provider.publish(document, accept_small_counts=True)
    return provider.set_visibility(head.id, "all")


def _requested(provider: Client, consumer: Client, head: Head) -> dict[str, str]:
    """Requests for a table, one in every state."""
    how: dict[str, Any] = {"purpose": "a study of care", "contact": "me@lab.example", "terms": head.terms}
    made = {
        state: consumer.requests.create(head.id, MEASURE, **how, wait=PATIENCE)
        for state in ("advised", "countered", "approved", "delivered", "received")
    }
    provider.requests.counter(made["countered"].id, "c7")
    for state in ("approved", "delivered", "received"):
        approved = provider.requests.approve(made[state].id)
        if state != "approved":
            delivered = provider.requests.deliver(approved.id, _descriptor(head, approved))
        if state == "received":
            consumer.requests.receive(approved.id, _verdict(delivered))
    return {state: request.id for state, request in made.items()}


def _descriptor(head: Head, request: DataRequest) -> DeliveryDescriptor:
    return DeliveryDescriptor(
        url="http://127.0.0.1:8080/masked.csv",
        expires_at=datetime.now(UTC) + timedelta(days=7),
        media_type="text/csv",
        size=1_000_000,
        sha256="0" * 64,
        records=SHAPES["usual"].records,
        configuration=str(request.configuration),
        entry_digest=head.digest,
        privacy={"k": 100.0},
    )


def _verdict(request: DataRequest) -> DeliveryVerdict:
    delivery = request.delivery
    if delivery is None:
        raise RuntimeError(f"{request.id}: nothing was delivered")
    return DeliveryVerdict(sha256=delivery.sha256, size=delivery.size, records=delivery.records, cells_compared=0)
