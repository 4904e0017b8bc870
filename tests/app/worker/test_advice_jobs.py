"""Questions become jobs, and each question is computed once."""

import asyncio
from contextlib import asynccontextmanager

import psycopg
import pytest
from procrastinate.jobs import Status

from aegis_advisor import MODEL_VERSION
from app.advice.service import computation
from app.advice.service.work import AdviceWork
from app.advice.store.advice import AdviceStore
from app.platform.database.session import Database
from app.platform.process.child import ChildProcess
from app.platform.queue.model import Lane, Problem
from app.platform.queue.queue import JobQueue, queue_app
from app.requests.service.data_requests import DataRequestWork
from app.worker.tasks import Tasks
from tests.app.worker.database import LOCK_AWAITED, jobs, rows
from tests.service import ask, create_key, example_entry, publish, running_app
from tests.waiting import until


async def answer_of(api, asked):
    return (await api.get(f"/v1/advice/{asked.json()['id']}")).json()


async def test_the_same_question_asked_by_ten_at_once_is_one_job(api, worker, database_url):
    head = await publish(api)
    answers = await asyncio.gather(*(ask(api, head["id"]) for _ in range(10)))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert jobs(database_url) == [("reference", "todo")]
    await worker.run()
    again = await ask(api, head["id"])
    assert (again.status_code, again.json()["id"]) == (200, answers[0].json()["id"])
    assert rows(database_url, "SELECT count(*) FROM advice") == [(1,)]
    assert jobs(database_url) == []


@pytest.mark.parametrize(
    "same",
    [
        {"attributes": ["age"]},
        {"weights": {}},
        {"require": {}},
        {"limit": 20},
        {"bias_correction": False},
        {"reference": "pooled", "rounding_seed": None, "attributes": None, "weights": None, "require": None},
    ],
    ids=str,
)
async def test_defaults_written_out_are_the_same_question(shared_api, same):
    if same.get("attributes"):
        one, other = {"attributes": ["age"], "weights": {"age": 1}}, {"weights": {"age": 1.0}, "attributes": ["age"]}
    else:
        one, other = {}, same
    head = await publish(shared_api, example_entry(name="-".join(("same", *same))))
    answers = [await ask(shared_api, head["id"], **question) for question in (one, other)]
    assert answers[0].json()["id"] == answers[1].json()["id"]


async def test_another_question_and_another_version_are_other_advice(shared_api):
    head = await publish(shared_api, example_entry(name="others"))
    ids = {(await ask(shared_api, head["id"], **question)).json()["id"] for question in (
        {}, {"measure": "g3"}, {"limit": 1}, {"limit": None}, {"require": {"k": 5}}, {"require": {"k": 4}},
        {"reference": "own"}, {"reference": "own", "rounding_seed": 0}, {"weights": {"age": 2}},
        {"bias_correction": True},
    )}  # fmt: skip
    changed = example_entry(name="others", title="changed")
    await shared_api.put(f"/v1/entries/{head['id']}", json=changed, headers={"If-Match": "*"})
    latest = await ask(shared_api, head["id"])
    assert latest.json()["entry"]["version"] == 2
    assert len(ids | {latest.json()["id"]}) == 11
    older = await shared_api.post(
        f"/v1/entries/{head['id']}/advice",
        params={"version": 1},
        json={"measure": "mutual_information"},
        headers={"Prefer": "respond-async"},
    )
    assert older.json()["entry"] == {"id": head["id"], "version": 1, "digest": head["digest"]}
    assert older.json()["id"] in ids


REFERENCES = (
    "SELECT r.xmin::text, r.model_version, a.xmin::text FROM reference r JOIN reference_array a USING (attribute)"
)


async def test_the_reference_of_a_version_is_computed_by_its_own_job_once(api, worker, database_url):
    head = await publish(api)
    assert jobs(database_url) == [("reference", "todo")]
    await worker.run()
    stored = rows(database_url, REFERENCES)
    assert {model for _, model, _ in stored} == {MODEL_VERSION}
    for measure in ("g3", "chi_square"):
        asked = await ask(api, head["id"], measure=measure)
        await worker.run()
        assert (await answer_of(api, asked))["status"] == "succeeded"
    assert rows(database_url, REFERENCES) == stored


async def test_a_question_waits_for_the_reference_that_is_being_computed(api, worker, database_url):
    head = await publish(api)
    asked = await ask(api, head["id"])
    manager = worker.queue.job_manager
    me = await manager.register_worker()
    first = await manager.fetch_job(queues=["light"], worker_id=me)
    assert (first.task_name, await manager.fetch_job(queues=["light"], worker_id=me)) == ("reference", None)
    await worker.queue.configure_task("reference", queue="light").defer_async(**first.task_kwargs)
    await worker.run()
    assert (await answer_of(api, asked))["status"] == "succeeded"
    await manager.finish_job(first, Status.SUCCEEDED, delete_job=True)
    assert jobs(database_url) == []


async def test_two_tenants_that_wait_for_the_same_answer_both_get_it(worker, database_url):
    keys = [await create_key(database_url, tenant, "provider") for tenant in ("one", "other")]
    async with running_app(database_url) as api:
        head = await publish(api, example_entry(visibility="all"), **keys[0])
        path, question = f"/v1/entries/{head['id']}/advice", {"measure": "mutual_information"}
        asked = [await api.post(path, json=question, headers=key | {"Prefer": "respond-async"}) for key in keys]
        await worker.run()
        answers = [await api.get(one.headers["Location"], headers=key) for one, key in zip(asked, keys, strict=True)]
    assert [answer.json()["status"] for answer in answers] == ["succeeded"] * 2


async def test_a_question_whose_reference_never_came_computes_it(api, worker, database_url):
    head = await publish(api)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("DELETE FROM procrastinate_jobs")
    asked = await ask(api, head["id"])
    await worker.run()
    assert (await answer_of(api, asked))["status"] == "succeeded"
    assert rows(database_url, "SELECT count(*) FROM reference") == [(1,)]


async def test_a_job_that_runs_twice_changes_nothing(api, worker, database_url):
    head = await publish(api)
    asked = await ask(api, head["id"])
    await worker.run()
    everything = "SELECT r.xmin::text, r::text FROM {} r ORDER BY 2"
    tables = ("advice", "reference", "reference_array", "entry", "entry_version")
    before = [rows(database_url, everything.format(table)) for table in tables]
    version_id = rows(database_url, "SELECT id FROM entry_version")[0][0]
    await worker.queue.configure_task("reference", queue="light").defer_async(
        tenant="t", version_id=version_id, attributes=[0]
    )
    await worker.queue.configure_task("advice", queue="light").defer_async(tenant="t", advice_id=asked.json()["id"])
    await worker.run()
    assert [rows(database_url, everything.format(table)) for table in tables] == before
    assert jobs(database_url) == []


LAST_ATTEMPT = "UPDATE procrastinate_jobs SET attempts = 2"
SPOILT = "UPDATE entry_version SET configuration_ids = '\\x00'"


async def test_advice_that_failed_says_so_and_is_asked_anew(api, worker, database_url):
    head = await publish(api)
    await worker.run()
    asked = await ask(api, head["id"])
    ids = rows(database_url, "SELECT configuration_ids FROM entry_version")[0]
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(LAST_ATTEMPT)
        connection.execute(SPOILT)
        await worker.run()
        failed = await answer_of(api, asked)
        assert (failed["status"], failed["problem"]["code"], failed["configuration"]) == ("failed", "internal", None)
        connection.execute("UPDATE entry_version SET configuration_ids = %s", ids)
    again = await ask(api, head["id"])
    assert (again.status_code, again.json()["status"]) == (202, "queued")
    assert "problem" not in again.json()
    await worker.run()
    answer = await answer_of(api, again)
    assert (answer["status"], answer["configuration"]) == ("succeeded", "c01")


async def test_a_job_that_fails_is_tried_again_before_it_is_given_up(api, worker, database_url):
    head = await publish(api)
    await worker.run()
    asked = await ask(api, head["id"])
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(SPOILT)
    await worker.run()
    assert (await answer_of(api, asked))["status"] == "running"
    assert jobs(database_url) == [("advice", "todo")]


async def test_a_job_that_killed_its_worker_thrice_is_given_up(api, worker, database_url):
    head = await publish(api)
    asked = await ask(api, head["id"])
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE procrastinate_jobs SET attempts = 3")
    await worker.run()
    assert (await answer_of(api, asked))["status"] == "failed"
    assert rows(database_url, "SELECT count(*) FROM reference") == [(0,)]
    assert jobs(database_url) == []


async def test_an_entry_that_is_deleted_takes_its_queued_jobs_along(api, worker, database_url):
    head = await publish(api)
    await ask(api, head["id"])
    await api.delete(f"/v1/entries/{head['id']}")
    await worker.run()
    assert jobs(database_url) == []
    for table in ("entry_version", "advice", "reference", "reference_array", "count_table", "configuration_table"):
        assert rows(database_url, f"SELECT count(*) FROM {table}") == [(0,)]


class Interrupted(ChildProcess):
    """The real child process, with something that happens while it computes."""

    def __init__(self, meanwhile):
        super().__init__(computation.__name__, deadline=60)
        self.meanwhile = meanwhile

    async def run(self, function, *given, **options):
        found = await super().run(function, *given, **options)
        await self.meanwhile()
        return found


@asynccontextmanager
async def interrupted_worker(database_url, meanwhile):
    database, queue = Database(database_url, pool_size=2), queue_app(database_url)
    Tasks(database, queue, dict.fromkeys(Lane, Interrupted(meanwhile)), reconstruction_seconds=60).register()
    async with queue.open_async():
        yield lambda: queue.run_worker_async(wait=False, install_signal_handlers=False, listen_notify=False)
    await database.close()


@pytest.mark.parametrize("reference_first", [True, False])
async def test_an_entry_that_is_deleted_while_its_job_runs_ends_the_job(api, worker, database_url, reference_first):
    head = await publish(api)
    if reference_first:
        await worker.run()
    asked = await ask(api, head["id"])

    async def delete():
        await api.delete(f"/v1/entries/{head['id']}")

    async with interrupted_worker(database_url, delete) as run:
        await run()
    assert jobs(database_url) == []
    assert rows(database_url, "SELECT count(*) FROM reference") == [(0,)]
    assert (await api.get(f"/v1/advice/{asked.json()['id']}")).status_code == 404


async def test_no_transaction_is_open_while_a_job_computes(api, database_url):
    await publish(api)
    open_transactions = []

    async def look():
        open_transactions.extend(rows(database_url, IN_TRANSACTION))

    async with interrupted_worker(database_url, look) as run:
        await run()
    assert rows(database_url, "SELECT count(*) FROM reference") == [(1,)]
    assert open_transactions == []


IN_TRANSACTION = (
    "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL "
    "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)


async def test_who_waits_holds_no_transaction(api, worker, database_url):
    head = await publish(api)
    waiting = asyncio.create_task(ask(api, head["id"], prefer="wait=20"))
    await until(lambda: rows(database_url, "SELECT 1 FROM advice"))
    await until(lambda: not rows(database_url, IN_TRANSACTION))
    assert not waiting.done()
    await worker.run()
    assert (await waiting).status_code == 200


async def test_who_waits_for_advice_that_fails_is_told_at_once(api, worker, database_url):
    head = await publish(api)
    await worker.run()
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(SPOILT.replace("configuration_ids", "schema"))
        waiting = asyncio.create_task(ask(api, head["id"], prefer="wait=20"))
        await until(lambda: rows(database_url, "SELECT 1 FROM advice"))
        connection.execute(LAST_ATTEMPT)
        await worker.run()
    answer = await waiting
    assert (answer.status_code, answer.json()["status"]) == (200, "failed")


async def test_who_does_not_want_to_wait_gets_a_place_to_look(shared_api):
    head = await publish(shared_api, example_entry(name="impatient"))
    for prefer in ("wait=0", "respond-async", "wait=1"):
        answer = await ask(shared_api, head["id"], prefer=prefer)
        assert (answer.status_code, answer.json()["status"]) == (202, "queued")
        assert answer.headers["Location"] == f"/v1/advice/{answer.json()['id']}"
        assert int(answer.headers["Retry-After"]) > 0


class InterruptionError(Exception):
    """An error between the computation of a job and its commit."""


async def test_a_job_exists_only_if_the_transaction_that_asked_for_it_commits(database, database_url):
    async def enqueue(*, interrupted):
        async with database.transaction() as session:
            await JobQueue(queue_app(database_url), session).reconstruct(
                "default", 1, MODEL_VERSION, {(0,): Lane.LIGHT}
            )
            assert jobs(database_url) == []
            if interrupted:
                raise InterruptionError

    with pytest.raises(InterruptionError):
        await enqueue(interrupted=True)
    assert jobs(database_url) == []
    await enqueue(interrupted=False)
    assert jobs(database_url) == [("reference", "todo")]


async def test_a_question_on_an_entry_that_is_being_deleted_is_not_found(api, database_url):
    head = await publish(api)
    with psycopg.connect(database_url) as connection:
        connection.execute("DELETE FROM entry")
        asking = asyncio.create_task(ask(api, head["id"]))
        await until(lambda: rows(database_url, LOCK_AWAITED))
    answer = await asking
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert rows(database_url, "SELECT count(*) FROM advice") == [(0,)]


@pytest.mark.parametrize("weights", [{"age": 1e308, "again": 1e308}, {"age": 5e-324, "again": 5e-324}], ids=str)
async def test_weights_of_any_size_are_weights(api, worker, weights):
    entry = example_entry()
    entry["attributes"].append(entry["attributes"][0] | {"name": "again"})
    for configuration in entry["configurations"]:
        configuration["maskings"]["again"] = configuration["maskings"]["age"]
    head = await publish(api, entry)
    asked = [await ask(api, head["id"], weights=given) for given in (None, weights)]
    await worker.run()
    plain, weighted = [await answer_of(api, one) for one in asked]
    for name in ("configuration", "ranking", "tied", "deviation"):
        assert weighted[name] == plain[name]


async def test_an_advice_fails_once_and_keeps_its_first_problem(api, database, database_url):
    asked = await ask(api, (await publish(api))["id"])
    [(advice_id,)] = rows(database_url, "SELECT id::text FROM advice")
    for problem, is_first in ((Problem("superseded", "First."), True), (Problem("internal", "Second."), False)):
        async with database.transaction() as session:
            assert await AdviceStore(session).fail(advice_id, problem) is is_first
    assert (await answer_of(api, asked))["problem"]["code"] == "superseded"


async def test_a_job_is_tried_until_it_could_say_that_it_has_failed(api, worker, database_url, monkeypatch):
    asked = await ask(api, (await publish(api))["id"])
    await worker.run()
    rows(database_url, "UPDATE advice SET status = 'running' RETURNING 1")
    await enqueue_advice(database_url)
    rows(database_url, "UPDATE procrastinate_jobs SET attempts = 3 WHERE status = 'todo' RETURNING 1")
    with monkeypatch.context() as broken:
        broken.setattr(AdviceWork, "fail", _refuse)
        await worker.run()
    assert rows(database_url, "SELECT attempts FROM procrastinate_jobs WHERE status = 'todo'") == [(4,)]
    rows(database_url, "UPDATE procrastinate_jobs SET scheduled_at = NULL WHERE status = 'todo' RETURNING 1")
    await worker.run()
    answer = await answer_of(api, asked)
    assert (answer["status"], answer["problem"]["code"]) == ("failed", "internal")


async def test_a_request_that_cannot_be_settled_costs_no_job_anything(api, worker, database_url, monkeypatch):
    asked = await ask(api, (await publish(api))["id"])
    monkeypatch.setattr(DataRequestWork, "settle", _refuse)
    await worker.run()
    assert (await answer_of(api, asked))["status"] == "succeeded"
    assert jobs(database_url) == []


async def _refuse(*_):
    raise RuntimeError


async def enqueue_advice(database_url):
    """Enqueue the job of the only advice again."""
    [(advice_id,)] = rows(database_url, "SELECT id::text FROM advice")
    database = Database(database_url, pool_size=1)
    async with database.transaction() as session:
        await JobQueue(queue_app(database_url), session).advise("default", advice_id)
    await database.close()
