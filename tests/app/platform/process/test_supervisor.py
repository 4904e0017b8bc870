import json
import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from app.platform.process.supervisor import GroupMember, Supervisor

pytestmark = pytest.mark.processes

GROUP = """
import json, sys
from app.platform.process import supervisor
from app.platform.process.supervisor import GroupMember, Supervisor
children, grace, works_after = json.loads(sys.argv[1])
supervisor.WORKS_AFTER_SECONDS = works_after
sys.exit(Supervisor([GroupMember(**child) for child in children], grace=grace).run())
"""

#: Each line is one write, whatever the buffering, so that the lines of several children do not mix.
SAY = """
import os, signal, sys
def say(*words):
    os.write(1, (" ".join(map(str, words)) + chr(10)).encode())
"""

POLITE = (
    SAY
    + """
def stop(number, frame):
    say(sys.argv[1], "stops")
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
say(sys.argv[1], os.getpid())
while True:
    signal.pause()
"""
)

STUBBORN = (
    SAY
    + """
signal.signal(signal.SIGTERM, lambda number, frame: say(sys.argv[1], "stays"))
say(sys.argv[1], os.getpid())
while True:
    signal.pause()
"""
)

PARENT = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
print(sys.argv[1], "leaves a child behind", flush=True)
"""

FAILING = SAY + "say('fails'); sys.exit(3)"

CRASHING = SAY + "say('crashes'); os.kill(os.getpid(), signal.SIGKILL)"


def child(name, script, **options):
    return {"name": name, "argv": [sys.executable, "-c", script, name], **options}


@contextmanager
def group(*children, grace=60.0, works_after=60.0):
    """A supervisor in a separate process. All children write to one pipe, which ends with the last of them."""
    command = [sys.executable, "-c", GROUP, json.dumps([children, grace, works_after])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as supervisor:
        try:
            yield supervisor
        finally:
            supervisor.kill()


def read(supervisor):
    return supervisor.stdout.readline().split()


def started(supervisor, count):
    """The process ids, by name, that the next `count` children print."""
    return {name: int(pid) for name, pid in (read(supervisor) for _ in range(count))}


def rest(supervisor):
    """The remaining lines until the group ends, sorted, since children end in any order; and its exit code."""
    out, _ = supervisor.communicate(timeout=20)
    return sorted(out.splitlines()), supervisor.returncode


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_all(stop):
    with group(*(child(name, POLITE) for name in "abc")) as supervisor:
        started(supervisor, 3)
        supervisor.send_signal(stop)
        assert rest(supervisor) == (["a stops", "b stops", "c stops"], 0)


def test_nobody_waits_for_another_to_stop():
    with group(child("before", POLITE), child("stubborn", STUBBORN), child("after", POLITE)) as supervisor:
        started(supervisor, 3)
        supervisor.terminate()
        stopping = sorted(read(supervisor) for _ in range(3))
        assert stopping == [["after", "stops"], ["before", "stops"], ["stubborn", "stays"]]
        supervisor.terminate()
        assert rest(supervisor) == ([], 0)


def test_who_does_not_stop_in_time_is_killed():
    with group(child("stubborn", STUBBORN), grace=0.2) as supervisor:
        started(supervisor, 1)
        supervisor.terminate()
        lines, status = rest(supervisor)
        assert status == 0
        assert lines in ([], ["stubborn stays"])  # it may be killed before it can say so


def test_a_second_signal_does_not_wait():
    with group(child("stubborn", STUBBORN)) as supervisor:
        started(supervisor, 1)
        supervisor.send_signal(signal.SIGINT)
        assert read(supervisor) == ["stubborn", "stays"]
        supervisor.send_signal(signal.SIGINT)
        assert rest(supervisor) == ([], 0)


def test_a_child_that_is_killed_starts_again():
    with group(child("api", POLITE), child("worker", POLITE)) as supervisor:
        first = started(supervisor, 2)["worker"]
        os.kill(first, signal.SIGKILL)
        assert started(supervisor, 1)["worker"] != first
        supervisor.terminate()
        assert rest(supervisor) == (["api stops", "worker stops"], 0)


def test_a_child_that_has_worked_starts_again_if_it_ends_by_itself():
    with group(child("api", POLITE), works_after=0.0) as supervisor:
        first = started(supervisor, 1)["api"]
        os.kill(first, signal.SIGTERM)
        assert read(supervisor) == ["api", "stops"]
        assert started(supervisor, 1)["api"] != first
        supervisor.terminate()
        assert rest(supervisor) == (["api stops"], 0)


def test_a_child_that_fails_before_it_has_worked_stops_the_group():
    with group(child("api", POLITE), child("worker", FAILING)) as supervisor:
        lines, code = rest(supervisor)
    assert lines.count("fails") == 1
    assert code == 1


def test_a_child_that_keeps_crashing_leaves_the_others_alone_and_pauses_longer_each_time():
    with group(child("api", POLITE), child("worker", CRASHING)) as supervisor:
        lines = [read(supervisor) for _ in range(5)]
        supervisor.terminate()
        _, errors = supervisor.communicate(timeout=20)
    assert lines.count(["crashes"]) == 4
    assert supervisor.returncode == 0
    pauses = [line.split(" starts again in ")[1] for line in errors.splitlines() if "starts again" in line]
    assert pauses[:3] == ["0.1 s", "0.2 s; that is 2 times in a row", "0.4 s; that is 3 times in a row"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits other processes")
def test_a_child_that_cannot_be_started_again_is_tried_until_it_can():
    with group(child("api", POLITE), child("worker", POLITE)) as supervisor:
        first = started(supervisor, 2)["worker"]
        usual = resource.prlimit(supervisor.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(supervisor.pid, resource.RLIMIT_NOFILE, (3, usual[1]))
        os.kill(first, signal.SIGKILL)
        assert "worker ended (SIGKILL)" in supervisor.stderr.readline()
        assert "worker could not be started (Too many open files)" in supervisor.stderr.readline()
        resource.prlimit(supervisor.pid, resource.RLIMIT_NOFILE, usual)
        assert started(supervisor, 1)["worker"] != first
        supervisor.terminate()
        assert rest(supervisor) == (["api stops", "worker stops"], 0)


def test_a_pending_restart_does_not_delay_stopping():
    with group(child("worker", CRASHING)) as supervisor:
        for _ in range(4):
            assert read(supervisor) == ["crashes"]
        supervisor.terminate()
        assert rest(supervisor) == ([], 0)


def test_the_end_of_a_child_that_has_never_worked_stops_the_group():
    with group(child("worker", POLITE), child("api", POLITE)) as supervisor:
        os.kill(started(supervisor, 2)["api"], signal.SIGTERM)
        assert rest(supervisor) == (["api stops", "worker stops"], 1)


def test_a_program_that_cannot_be_run_stops_the_group_and_is_named():
    missing = {"name": "api", "argv": ["/nowhere/api"]}
    with group(child("worker", POLITE), missing) as supervisor:
        _, errors = supervisor.communicate(timeout=20)
    assert supervisor.returncode == 1
    assert "cannot run /nowhere/api" in errors


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
def test_a_killed_supervisor_takes_its_children_with_it():
    with group(child("a", STUBBORN), child("b", POLITE)) as supervisor:
        started(supervisor, 2)
        supervisor.kill()
        assert rest(supervisor) == ([], -signal.SIGKILL)


def test_what_a_child_leaves_behind_ends_with_it():
    with group(child("parent", PARENT)) as supervisor:
        assert rest(supervisor) == (["parent leaves a child behind"], 1)


def test_a_terminal_s_interrupt_reaches_no_child():
    with group(child("api", POLITE)) as supervisor:
        pid = started(supervisor, 1)["api"]
        assert os.getsid(pid) == os.getpgid(pid) == pid
        supervisor.terminate()
        assert rest(supervisor) == (["api stops"], 0)


def test_a_child_sees_our_environment_and_its_own():
    script = "import os; print(os.environ['AEGIS_TEST'], 'PATH' in os.environ)"
    with group(child("api", script, env={"AEGIS_TEST": "here"})) as supervisor:
        assert rest(supervisor) == (["here True"], 1)


def test_the_signal_handlers_are_as_before():
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)
    before = [signal.getsignal(number) for number in numbers]
    ends = GroupMember(name="ends", argv=[sys.executable, "-c", ""])
    assert Supervisor([ends]).run() == 1
    assert [signal.getsignal(number) for number in numbers] == before
    assert signal.set_wakeup_fd(-1) == -1
