"""Measuring time and memory."""

import os

from bench.measuring import in_own_process, peak_memory, seconds_and_peak


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
