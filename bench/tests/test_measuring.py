"""Measuring time and memory."""

import os
import subprocess
import sys

import psutil
import pytest

from bench.measuring import core_seconds, in_own_process, peak_memory, repeated, seconds_and_peak


def hold(megabytes):
    return len(bytes(bytearray(megabytes * 10**6)))


def hold_much():
    hold(300)


def test_what_runs_in_its_own_process_returns_from_there():
    assert in_own_process(os.getpid) != os.getpid()


def test_the_peak_is_that_of_the_process_and_not_of_its_parent():
    hold(300)
    seconds, peak = in_own_process(seconds_and_peak, hold_much)
    assert seconds > 0
    assert peak > 300
    assert in_own_process(peak_memory) < min(peak, peak_memory()) - 150


def test_what_is_repeated_is_done_at_the_start_and_at_the_end():
    times = []
    with repeated(lambda: times.append(len(times)), 600):
        pass
    assert times == [0, 1]


def test_an_error_in_what_is_repeated_does_not_pass_unseen():
    def fail():
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"), repeated(fail, 600):
        pass


def test_the_core_seconds_of_a_process_that_has_ended_are_kept():
    work = "import sys, time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\nsys.stdin.read()"
    before = core_seconds(psutil.Process())
    with subprocess.Popen([sys.executable, "-c", work], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        during = core_seconds(psutil.Process())
        child.stdin.close()
    after = core_seconds(psutil.Process())
    assert before + 0.25 < during <= after
