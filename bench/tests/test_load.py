"""The judgement of responses and memory by `make load`, on which its exit code depends."""

import math
import time

import psutil
import pytest

from bench.load.__main__ import Memory
from bench.load.clients import Client, Tally, arriving, many
from bench.load.stage import Stage, Tenant


def tally_of(**answers):
    tally = Tally()
    for answer, count in answers.items():
        for _ in range(count):
            tally.note("list", answer.strip("_").replace("_", " "), 0.1)
    return tally


def test_only_overload_and_rates_are_refusals_and_all_other_errors_are_faults():
    tally = tally_of(_200=95, _202=1, _503_overloaded=2, _429=1, _503_interrupted=1, _500=2, _404_gone=1, ReadTimeout=3)
    assert tally.count == 106
    assert tally.refused == pytest.approx(3 / 106)
    assert tally.faults == {"503 interrupted": 1, "500": 2, "404 gone": 1, "ReadTimeout": 3}


def test_without_an_answer_nothing_is_refused():
    assert (Tally().refused, Tally().faults.total()) == (0, 0)


def test_only_what_succeeded_says_how_fast_the_service_is():
    tally = Tally()
    tally.note("list", "200", 0.1)
    tally.note("list", "503 overloaded", 0.001)
    tally.note("list", "ReadTimeout", 100)
    assert tally.seconds == {"list": [0.1]}
    assert (tally.succeeded, tally.refusals("list")) == (1, 1)


def test_the_slope_of_memory_is_that_of_the_second_half():
    memory = Memory()
    for minute, size in enumerate((50, 90, 100, 103, 106, 109)):
        memory.add(minute, {"api": size})
    assert memory.slope("api") == pytest.approx(3)


def test_processes_that_come_and_go_have_no_memory_before_and_after():
    memory = Memory()
    memory.add(0, {"api": 1.0, "gone": 2.0})
    memory.add(1, {"api": 1.0, "new": 3.0})
    assert memory.sizes == {"api": [1.0, 1.0], "gone": [2.0, 0.0], "new": [0.0, 3.0]}
    assert math.isnan(memory.slope("api"))


STAGE = Stage("http://127.0.0.1:1", psutil.Process(), (Tenant("key", "entry"),))


async def arrivals(monkeypatch, busy):
    """When requests were due, while each keeps this process busy for this many seconds."""
    dues = []

    async def send(_, due):
        dues.append(due)
        end = time.perf_counter() + busy
        while time.perf_counter() < end:
            pass

    monkeypatch.setattr(Client, "send", send)
    await arriving(STAGE, 300, 0.1, 7)
    return [due - dues[0] for due in dues]


async def test_a_busy_client_does_not_lower_the_rate(monkeypatch):
    idle = await arrivals(monkeypatch, 0)
    assert len(idle) > 10
    assert await arrivals(monkeypatch, 0.005) == pytest.approx(idle, abs=1e-6)


async def test_clients_do_not_wait_for_what_they_will_not_send(monkeypatch):
    dues = []

    async def send(_, due):
        dues.append(due)

    monkeypatch.setattr(Client, "send", send)
    _, seconds = await many(STAGE, 20, 0.1, 0.05)
    assert dues
    assert max(dues) - min(dues) < 0.1 <= seconds
    _, seconds = await many(STAGE, 20, 0.1, 3_600)
    assert 0.1 <= seconds < 600
