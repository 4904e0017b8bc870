"""If a worker is killed during a computation, another takes its job, and no process stays behind."""

import os
import signal
from pathlib import Path

import pytest

from tests.app.worker.database import jobs, rows
from tests.app.worker.heavy import ATTRIBUTES, heavy_entry
from tests.running import line_with, process
from tests.service import ask, publish
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.processes


def descendants(pid):
    """The ids of all running descendants of a process."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for task in tasks for child in task.read_text().split()]
    return children + [further for child in children for further in descendants(child)]


def runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


BOTH_WORK = (
    "SELECT 1 FROM procrastinate_jobs WHERE status = 'doing' AND task_name = 'reference' "
    "HAVING count(DISTINCT worker_id) = 2"
)


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are counted in /proc")
async def test_the_job_of_a_killed_worker_is_recovered_by_another(api, database_url):
    with (
        process("worker", database_url=database_url, log_level="INFO") as killed,
        process("worker", database_url=database_url, log_level="INFO") as rescuer,
    ):
        line_with(killed, "worker started")
        line_with(rescuer, "worker started")
        head = await publish(api, heavy_entry())
        asked = await ask(api, head["id"])
        await until(lambda: rows(database_url, BOTH_WORK))
        children = descendants(killed.pid)
        assert children
        os.kill(killed.pid, signal.SIGKILL)
        assert killed.wait() == -signal.SIGKILL
        assert rows(database_url, "SELECT count(*) < %s FROM reference", ATTRIBUTES) == [(True,)]
        await until(lambda: not any(map(runs, children)))
        assert '"task": "reference"' in line_with(rescuer, "job recovered")
        await until(lambda: rows(database_url, "SELECT 1 FROM advice WHERE status = 'succeeded'"))
        await until(lambda: not jobs(database_url))
        rescuer.terminate()
        rescuer.communicate(timeout=PATIENCE)
    assert rescuer.returncode == 0
    assert rows(database_url, "SELECT count(*), bool_and(iterations > 0) FROM reference") == [(ATTRIBUTES, True)]
    answer = (await api.get(asked.headers["Location"])).json()
    assert (answer["status"], answer["considered"]) == ("succeeded", 4)
    assert answer["ranking"][0]["configuration"] == answer["configuration"]
