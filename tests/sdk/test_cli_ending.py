"""Signals that come while a command is running."""

import gc
import signal
import sys
import tempfile
import time
from contextlib import contextmanager, suppress

import pytest

from aegis_sdk.cli import main
from aegis_sdk.cli.signals import ended_by_signals

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PLAN = "label: y\nattributes: {a: {}}\nconfigurations: {c: {}}\nprivacy: {c: {k: 1}}\n"


@pytest.fixture(autouse=True)
def _heard():
    """Restore the default actions of signals, even if the parent of the tests ignores them."""
    before = [(number, signal.getsignal(number)) for number in SIGNALS]
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number, handler in before:
        signal.signal(number, handler)


@pytest.fixture
def interrupted(tmp_path, monkeypatch, capsys):
    """Mask a table, send the signal once the first records are written, and return exit code, stderr and files."""
    (tmp_path / "t.csv").write_text("a,y\n" + "1,n\n2,m\n" * 5_000, encoding="utf-8")
    (tmp_path / "plan.yaml").write_text(PLAN, encoding="utf-8")
    (tmp_path / "spill").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "spill"))

    def run(number, output):
        @contextmanager
        def signalling(_task):
            yield lambda _done, _total: signal.raise_signal(number)

        monkeypatch.setattr("aegis_provider.cli.apply.progress_bar", signalling)
        arguments = ("apply", tmp_path / "t.csv", "--plan", tmp_path / "plan.yaml", "--configuration", "c")
        with pytest.raises(SystemExit) as exited:
            main([*map(str, arguments), "--output", str(tmp_path / output)])
        left = {path.name for path in tmp_path.rglob("*")} - {"t.csv", "plan.yaml", "spill"}
        return exited.value.code, capsys.readouterr().err, left

    return run


@pytest.mark.parametrize("output", ["masked.csv", "masked.parquet"])
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_a_command_silently_and_leaves_nothing(interrupted, number, output):
    assert interrupted(number, output) == (128 + number, "", set())


def test_a_signal_that_is_ignored_stays_so(interrupted):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        code, error, left = interrupted(signal.SIGHUP, "masked.csv")
        assert (code, left) == (0, {"masked.csv"})
        assert error.startswith("aegis: warning: the label of some people is certain")
    finally:
        signal.signal(signal.SIGHUP, before)


def test_what_a_library_makes_of_a_signal_ends_as_the_signal_does():
    def query():
        with suppress(SystemExit):
            signal.raise_signal(signal.SIGINT)
        raise RuntimeError("Query interrupted")

    with pytest.raises(SystemExit) as exited, ended_by_signals():
        query()
    assert exited.value.code == 128 + signal.SIGINT


def test_one_signal_that_is_sent_twice_does_not_disturb_the_clearing_up():
    cleared = []

    def work():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGTERM)
            cleared.append("all")

    with pytest.raises(SystemExit), ended_by_signals():
        work()
    assert cleared == ["all"]


def test_other_errors_and_the_handlers_are_left_as_they_are():
    before = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(RuntimeError, match="of its own"), ended_by_signals():
        raise RuntimeError("of its own")
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_a_signal_whose_exception_is_ignored_comes_again():
    """Python ignores what is raised in callbacks of the garbage collector."""

    def interrupting(phase, _info):
        if phase == "start" and interrupting in gc.callbacks:
            gc.callbacks.remove(interrupting)
            signal.raise_signal(signal.SIGINT)

    def waiting():
        with ended_by_signals():
            gc.collect()
            assert interrupting not in gc.callbacks
            for _ in range(6_000):  # a minute
                time.sleep(0.01)

    hook = sys.unraisablehook
    gc.callbacks.append(interrupting)
    with pytest.raises(SystemExit) as exited:
        waiting()
    assert exited.value.code == 128 + signal.SIGINT
    assert sys.unraisablehook is hook
