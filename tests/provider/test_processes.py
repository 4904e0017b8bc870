import os
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial

import pytest

from aegis_provider import processes
from aegis_provider.processes import begun, processes_ready, results
from aegis_sdk import AegisError
from tests.for_each import for_each


@pytest.fixture
def two_processes(monkeypatch):
    monkeypatch.setattr(processes, "_WORTH", 10)
    monkeypatch.setattr("loky.cpu_count", lambda: 2)
    with processes_ready(10, "json"):
        yield


def test_few_records_need_no_other_process():
    assert list(results([os.getpid] * 3, 9)) == [os.getpid()] * 3


@pytest.mark.usefixtures("two_processes")
def test_many_records_have_other_processes_and_results_in_turn():
    assert os.getpid() not in set(results([os.getpid] * 3, 10))
    assert list(results([lambda n=n: n * n for n in range(20)], 10)) == [n * n for n in range(20)]


@pytest.mark.long
@pytest.mark.usefixtures("two_processes")
def test_calls_are_made_while_others_are_still_being_prepared(tmp_path):
    mark = tmp_path / "made"

    def calls():
        yield mark.touch
        while not mark.exists():
            time.sleep(0.01)
        yield mark.exists

    assert list(results(calls(), 10)) == [None, True]


@pytest.mark.long
@pytest.mark.usefixtures("two_processes")
def test_an_error_of_a_call_is_raised_here_and_processes_work_again():
    def fails():
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        list(results([fails, os.getpid], 10))
    assert os.getpid() not in set(results([os.getpid], 10))


@pytest.mark.long
@pytest.mark.usefixtures("two_processes")
def test_few_calls_are_held_at_a_time():
    taken = []

    def calls():
        for number in range(100):
            taken.append(number)
            yield os.getpid

    found = results(calls(), 10)
    next(found)
    assert len(taken) < 20
    assert len(list(found)) == 99


@pytest.mark.usefixtures("two_processes")
def test_at_the_end_of_the_time_what_has_begun_is_stopped():
    here = os.getpid()

    def waits_for_ever_elsewhere():
        if os.getpid() != here:
            signal.pause()
        return "here"

    assert list(results([waits_for_ever_elsewhere] * 20, 10, time.monotonic() + 1)) == ["here"] * 20
    assert os.getpid() not in set(results([os.getpid], 10, time.monotonic() + 1_000))
    assert list(results([os.getpid], 10, time.monotonic())) == [os.getpid()]  # too late to begin


@pytest.mark.usefixtures("two_processes")
def test_a_process_that_dies_is_an_error_in_one_line_and_others_take_its_place():
    with pytest.raises(AegisError, match="is there enough memory"):
        list(results([partial(os._exit, 9)], 10))
    assert os.getpid() not in set(results([os.getpid], 10))


@pytest.mark.usefixtures("two_processes")
def test_where_no_process_can_be_started_this_one_does_the_work(monkeypatch):
    def fails(*_args, **_how):
        raise OSError("no semaphores")

    monkeypatch.setattr("loky.get_reusable_executor", fails)
    assert set(results([os.getpid] * 3, 10)) == {os.getpid()}


SLOW = textwrap.dedent(
    """
    import os, sys, time
    from pathlib import Path
    from aegis_provider import processes
    import loky
    loky.cpu_count = lambda: 2
    def slow():
        Path(sys.argv[1], str(os.getpid())).touch()
        time.sleep(float(sys.argv[2]))
    list(processes.results([slow] * 4, 10**6))
    """
)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.long
@for_each(("kill", "seconds"), [(signal.SIGINT, 300), (signal.SIGKILL, 3)])
def test_no_process_is_left_behind(tmp_path, kill, seconds):
    """Ctrl-C in a terminal reaches all processes of the group, and only the first of them may speak.

    If that one is killed, the others end what they are doing first.
    """
    started = subprocess.Popen(
        [sys.executable, "-c", SLOW, tmp_path, str(seconds)], stderr=subprocess.PIPE, start_new_session=True, text=True
    )
    while len(list(tmp_path.iterdir())) < 2:
        assert started.poll() is None
        time.sleep(0.05)
    others = [int(each.name) for each in tmp_path.iterdir()]
    if kill is signal.SIGINT:
        os.killpg(started.pid, kill)
    else:
        started.kill()
    _, told = started.communicate(timeout=60)
    end = time.monotonic() + 60
    while any(map(_is_alive, others)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(_is_alive, others))
    assert told.count("Traceback") == (kill is signal.SIGINT)


@pytest.mark.long
@pytest.mark.usefixtures("two_processes")
def test_what_is_begun_is_made_elsewhere_and_here_if_a_process_dies():
    here = os.getpid()

    def of_this_process():
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return here

    [elsewhere, _] = begun([os.getpid, os.getpid, os.getpid], 10)
    assert elsewhere() != here
    [dying] = begun([of_this_process], 10)
    assert dying() == here
    assert here not in set(results([os.getpid], 10))


def test_nothing_is_begun_unless_processes_are_ready():
    assert begun([os.getpid], 10 * processes._WORTH) == []
