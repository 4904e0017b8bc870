"""The start and stop of the service in benchmarks: it must neither block them nor be left behind."""

import subprocess
import sys

import psutil
import pytest

from bench import served as module
from bench.served import served

SAYS = "print('Aegis listens on http://127.0.0.1:1', flush=True)"
STAYS = "import signal; signal.sigwait({signal.SIGTERM})"
IS_DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
HANGS = "import threading; threading.Event().wait()"


@pytest.fixture
def runs(monkeypatch):
    """Have `served` start these lines instead of the service."""

    def replace(*lines):
        script = "\n".join(("import signal; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})", *lines))
        monkeypatch.setattr(module, "SERVER", (sys.executable, "-c", script))

    return replace


def test_a_service_is_there_during_the_block_only(runs, tmp_path):
    runs(SAYS, STAYS)
    with served(tmp_path) as running:
        assert running.url == "http://127.0.0.1:1"
        assert running.process.is_running()
    assert not psutil.pid_exists(running.process.pid)


def test_it_has_the_given_settings_and_no_other_ones(runs, tmp_path, monkeypatch):
    monkeypatch.setenv("AEGIS_HOST", "example.org")
    runs("import os; print(sorted(one for one in os.environ if one.startswith('AEGIS_')))", SAYS, STAYS)
    with served(tmp_path, AEGIS_WORKERS="1"):
        assert "['AEGIS_PORT', 'AEGIS_WORKERS']" in (tmp_path / "output.txt").read_text()


def test_what_does_not_end_is_killed_and_told(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "STOP_SECONDS", 0.2)
    runs(IS_DEAF, SAYS, HANGS)
    with pytest.raises(subprocess.TimeoutExpired), served(tmp_path) as running:
        pass
    assert not psutil.pid_exists(running.process.pid)


def test_what_never_says_where_it_is_does_not_hold_up(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "START_SECONDS", 0.2)
    runs(STAYS)
    with pytest.raises(TimeoutError, match=r"within 0\.2 s"), served(tmp_path):
        pass


def test_what_ends_at_once_shows_its_log(runs, tmp_path, capfd):
    runs("raise SystemExit('a wrong setting')")
    with pytest.raises(RuntimeError, match="status 1"), served(tmp_path):
        pass
    assert "a wrong setting" in capfd.readouterr().err


def test_a_service_ends_with_whoever_started_it(tmp_path):
    script = f"""
from pathlib import Path
import sys
from bench import served
served.SERVER = (sys.executable, "-c", {SAYS!r} + "; import signal; signal.pause()")
with served.served(Path({str(tmp_path)!r})) as running:
    print(running.process.pid, flush=True)
    sys.stdin.read()
"""
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as starter:
        service = psutil.Process(int(starter.stdout.readline()))
        starter.kill()
    service.wait(30)
