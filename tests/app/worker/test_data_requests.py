"""What the service itself does with requests for data: it answers them, lets them expire, and overlooks none."""

import asyncio

import psycopg
import pytest

from app.factory import Factory
from app.platform.database.session import Database
from app.platform.queue.queue import queue_app
from app.retention import Retention
from app.worker.worker import sweep
from tests.app.worker.database import rows
from tests.service import Worker, ask, example_entry, publish
from tests.waiting import until


@pytest.fixture
async def swept(database_url):
    """Sweeps by these rules, and says how much was deleted or ended."""
    database = Database(database_url, pool_size=1)

    async def by(**rules):
        return await sweep(database, queue_app(database_url), Retention(**rules))

    yield by
    await database.close()


async def requested(api, head, measure="g3"):
    asked = {"measure": measure, "purpose": "a study", "contact": "me", "terms": head["terms"]}
    answer = await api.post(f"/v1/entries/{head['id']}/requests", json=asked)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


async def state(api, request_id):
    return (await api.get(f"/v1/requests/{request_id}")).json()["state"]


def execute(database_url, statement):
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(statement)


async def test_open_requests_expire_after_so_many_days_without_a_change(api, worker, database_url, swept):
    head = await publish(api)
    old, decided, fresh = [
        await requested(api, head, measure) for measure in ("g3", "chi_square", "mutual_information")
    ]
    await worker.run()
    await api.post(f"/v1/requests/{decided}/actions", json={"action": "decline", "reason": "no"})
    execute(
        database_url,
        f"UPDATE data_request SET changed_at = changed_at - interval '31 days' WHERE id IN ('{old}', '{decided}')",
    )
    assert await swept() == 0
    assert await swept(request_days=32) == 0
    assert await swept(request_days=30) == 1
    assert [await state(api, one) for one in (old, decided, fresh)] == ["expired", "declined", "advised"]
    last = (await api.get(f"/v1/requests/{old}")).json()["changes"][-1]
    assert (last["side"], last["reason"]) == ("service", "Nobody acted for 30 days.")


async def test_the_advice_and_the_version_of_an_open_request_are_kept(api, worker, database_url, swept):
    head = await publish(api)
    request_id = await requested(api, head)
    await worker.run()
    for title in ("second", "third"):
        put = {
            "json": example_entry(title=title),
            "headers": {"If-Match": "*"},
            "params": {"accept_small_counts": True},
        }
        assert (await api.put(f"/v1/entries/{head['id']}", **put)).status_code == 200
    execute(database_url, "UPDATE advice SET created_at = created_at - interval '11 days'")
    assert await swept(advice_days=10, versions=2) == 0
    await api.post(f"/v1/requests/{request_id}/actions", json={"action": "withdraw"})
    assert await swept(advice_days=10, versions=2) == 2
    kept = (await api.get(f"/v1/requests/{request_id}")).json()
    assert (kept["state"], kept["advice"], kept["entry"]["version"]) == ("withdrawn", None, 1)


async def test_a_request_that_is_made_while_its_advice_is_finished_is_not_overlooked(api, worker, database_url):
    head = await publish(api)
    await worker.run()
    for measure in ("g3", "chi_square", "mutual_information", "g1"):
        await ask(api, head["id"], measure=measure)
        _, *made = await asyncio.gather(worker.run(), *(requested(api, head, measure) for _ in range(8)))
        await worker.run()
        assert {await state(api, one) for one in made} == {"advised"}
    counted = rows(database_url, "SELECT request_id FROM data_request_change WHERE action = 'advise'")
    assert len(counted) == len(set(counted)) == 32


async def test_a_request_whose_worker_died_before_answering_it_is_answered_by_the_next_run(api, database_url):
    head = await publish(api)
    request_id = await requested(api, head)
    async with Worker.on(database_url) as dying:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("app.worker.tasks.Tasks._settle", _nothing)
            await dying.run()
    assert await state(api, request_id) == "requested"
    database = Database(database_url, pool_size=1)
    async with database.transaction() as session:
        assert await Factory(session, queue_app(database_url)).data_request_work().settle() == 1
    await database.close()
    assert await state(api, request_id) == "advised"


async def _nothing(_):
    pass


async def test_a_request_that_somebody_has_locked_is_answered_after_that(api, worker, database_url):
    head = await publish(api)
    request_id = await requested(api, head)
    with psycopg.connect(database_url) as other:
        other.execute("SELECT FROM data_request FOR UPDATE")
        running = asyncio.create_task(worker.run())
        await until(lambda: rows(database_url, "SELECT 1 FROM advice WHERE status = 'succeeded'"))
        other.rollback()
        await running
    assert await state(api, request_id) == "advised"


async def test_what_no_job_has_answered_is_answered_by_the_sweep(api, worker, swept, monkeypatch):
    head = await publish(api)
    request_id = await requested(api, head)
    monkeypatch.setattr("app.worker.tasks.Tasks._settle", _nothing)  # as in a worker of an older version
    await worker.run()
    assert await state(api, request_id) == "requested"
    assert await swept() == 1
    assert await state(api, request_id) == "advised"


async def test_advice_that_is_requested_while_it_is_swept_is_kept(api, worker, database_url, swept):
    head = await publish(api)
    request_id = await requested(api, head)
    await worker.run()
    await api.post(f"/v1/requests/{request_id}/actions", json={"action": "withdraw"})
    execute(database_url, "UPDATE advice SET created_at = created_at - interval '11 days'")
    with psycopg.connect(database_url) as other:
        other.execute("SELECT FROM advice FOR SHARE")
        other.execute("UPDATE data_request SET state = 'advised'")
        assert await swept(advice_days=10) == 0
        other.commit()
    assert await swept(advice_days=10) == 0
    assert (await api.get(f"/v1/requests/{request_id}")).json()["advice"] is not None


async def test_an_entry_with_many_requests_is_deleted_by_few_statements(api, database_url):
    head = await publish(api)
    request_id = await requested(api, head)
    execute(database_url, COPIES)
    answer = await api.delete(f"/v1/entries/{head['id']}", headers={"If-Match": "*"})
    assert answer.status_code == 204
    assert rows(database_url, "SELECT state, count(*) FROM data_request GROUP BY state") == [("ended", 5001)]
    ended = "SELECT count(*) FROM data_request_change WHERE action = 'end' AND reason = 'The entry was deleted.'"
    assert rows(database_url, ended) == [(5001,)]
    assert await state(api, request_id) == "ended"


COPIES = """
INSERT INTO data_request SELECT (jsonb_populate_record(
    data_request, jsonb_build_object('id', gen_random_uuid()))).* FROM data_request, generate_series(1, 5000)
"""


async def test_deleting_an_entry_while_it_is_requested_leaves_no_open_request(api, worker, database_url):
    for place in range(10):
        head = await publish(api, example_entry(name=f"entry-{place}"))
        await worker.run()
        asked = {"measure": "g3", "purpose": "a study", "contact": "me", "terms": head["terms"]}
        path = f"/v1/entries/{head['id']}"
        *made, gone = await asyncio.gather(
            *(api.post(f"{path}/requests", json=asked) for _ in range(4)),
            api.delete(path, headers={"If-Match": "*"}),
        )
        assert gone.status_code == 204
        assert {one.status_code for one in made} <= {201, 404}
    assert rows(database_url, "SELECT DISTINCT state FROM data_request WHERE state <> 'ended'") == []
