"""A job judges each new version, as the provider's command does, and stores the verdict."""

import json
from pathlib import Path

import psycopg
import pytest

from aegis_provider import document_of, load_plan, prepare_entry
from aegis_provider.disclosure import disclose
from aegis_sdk.wire import EntryDocument
from tests.app.worker.database import rows
from tests.service import create_key, publish, running_app

HEALTH = Path(__file__).parents[3] / "examples" / "health"


async def verdict_on(api, entry_id, **options):
    return (await api.get(f"/v1/entries/{entry_id}", **options)).json()["verdict"]


@pytest.mark.long
async def test_a_version_is_judged_as_the_provider_s_command_judges_it(api, worker):
    plan = load_plan(HEALTH / "plan.yaml")
    for exact in (True, False):
        name = "exact" if exact else "default"
        entry = document_of(prepare_entry(HEALTH / "health.csv", plan, name=name, exact=exact, pairs=True).entry)
        head = await publish(api, entry)
        assert await verdict_on(api, head["id"]) is None
        await worker.run()
        judged = disclose(EntryDocument.model_validate(entry)).judged
        assert await verdict_on(api, head["id"]) == json.loads(judged.verdict.model_dump_json())
        assert judged.verdict.passed != exact


async def test_only_who_may_read_the_counts_learns_what_fails(database_url, worker):
    owner = await create_key(database_url, "tenant", "provider")
    reader = await create_key(database_url, "tenant", "consumer")
    async with running_app(database_url) as api:
        head = await publish(api, **owner)
        await worker.run()
        assert (await verdict_on(api, head["id"], headers=owner))["findings"]
        assert await verdict_on(api, head["id"], headers=reader) == {"passed": False, "findings": [], "few": None}


async def test_a_version_that_cannot_be_judged_does_not_pass(api, worker, database_url):
    head = await publish(api)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE procrastinate_jobs SET attempts = 3")
    await worker.run()
    undecided = [{"reason": "undecided", "pointer": "", "cells": 0}]
    assert await verdict_on(api, head["id"]) == {"passed": False, "findings": undecided, "few": None}


async def test_the_job_of_a_deleted_version_ends_and_a_verdict_is_given_once(api, worker, database_url):
    await api.delete(f"/v1/entries/{(await publish(api))['id']}")
    await worker.run()
    assert rows(database_url, "SELECT count(*) FROM verdict") == [(0,)]
    await publish(api)
    with psycopg.connect(database_url, autocommit=True) as connection:
        again = "UPDATE procrastinate_jobs SET status = 'todo' WHERE task_name = 'verdict'"
        await worker.run()
        connection.execute(again)
        await worker.run()
    assert rows(database_url, "SELECT passed FROM verdict") == [(False,)]
