"""The faults, each with its beginning and its end."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import psutil
import psycopg

from bench.chaos.stage import Stage

_API, _WORKER, _POSTMASTER = r"app\.cli api", r"app\.cli worker", r"/bin/postgres -D"

#: The number of times that the database ends while its disk is full.
_ENDS_WHILE_FULL = 0.3

#: The largest step of a clock in seconds.
_MOST_STEPPED = 7200

#: The title of a PostgreSQL process that serves a connection.
_BACKEND = r"postgres: aegis aegis"


#: The timeout of a statement, since a recently disturbed database may not respond.
_LIMIT = "-c statement_timeout=5000"


@dataclass(frozen=True)
class Fault:
    """A kind of fault.

    Attributes:
        name: its name in the table.
        make: makes the fault; False if there was nothing to hit.
        weight: its relative frequency.
    """

    name: str
    make: Callable[[Stage, Random], bool]
    weight: float = 1.0


def _killed(find: Callable[[Stage], list[psutil.Process]]) -> Callable[[Stage, Random], bool]:
    def make(stage: Stage, rng: Random) -> bool:
        return _signal(find(stage), rng, signal.SIGKILL)

    return make


def _stopped(find: Callable[[Stage], list[psutil.Process]], most: float) -> Callable[[Stage, Random], bool]:
    def make(stage: Stage, rng: Random) -> bool:
        processes = find(stage)
        if not processes:
            return False
        hit = rng.choice(processes)
        try:
            hit.suspend()
            time.sleep(rng.uniform(0.2, most))
            hit.resume()
        except psutil.NoSuchProcess:
            return False
        return True

    return make


def _signal(processes: list[psutil.Process], rng: Random, number: signal.Signals) -> bool:
    if not processes:
        return False
    try:
        rng.choice(processes).send_signal(number)
    except psutil.NoSuchProcess:
        return False
    return True


def _terminated(stage: Stage, rng: Random) -> bool:
    """End some connections, as an administrator does."""
    query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'aegis' AND random() < %s"
    try:
        with psycopg.connect(stage.owner_url, autocommit=True, connect_timeout=5, options=_LIMIT) as connection:
            return connection.execute(query, [rng.uniform(0.1, 1.0)]).rowcount > 0
    except psycopg.Error:
        return False


def _slow(stage: Stage, rng: Random) -> bool:
    stage.proxy.delay = rng.uniform(0.02, 0.3)
    time.sleep(rng.uniform(0.5, 4.0))
    stage.proxy.delay = 0.0
    return True


def _cut(stage: Stage, rng: Random) -> bool:
    stage.proxy.cut()
    time.sleep(rng.uniform(0.5, 6.0))
    stage.proxy.join()
    return True


def _reset(stage: Stage, _: Random) -> bool:
    stage.proxy.reset()
    return True


def _full(stage: Stage, rng: Random) -> bool:
    if not stage.disk.is_own:
        return False
    stage.disk.fill()
    # As if it could not write its log: then it cannot recover, either, until there is space.
    if rng.random() < _ENDS_WHILE_FULL:
        _signal(stage.named(_POSTMASTER), rng, signal.SIGKILL)
    time.sleep(rng.uniform(1.0, 6.0))
    stage.disk.clear()
    return True


def _stepped(which: int) -> Callable[[Stage, Random], bool]:
    def make(stage: Stage, rng: Random) -> bool:
        clock = stage.clocks[which]
        if not clock.is_own:
            return False
        clock.step(rng.choice((-1, 1)) * rng.randrange(1, _MOST_STEPPED))
        time.sleep(rng.uniform(1.5, 5.0))
        clock.step(0)
        return True

    return make


FAULTS = (
    Fault("worker killed", _killed(lambda stage: stage.named(_WORKER)), 3),
    Fault("worker stopped for a while", _stopped(lambda stage: stage.named(_WORKER), 8.0), 2),
    Fault("child of a worker killed", _killed(lambda stage: stage.children_of(_WORKER)), 3),
    Fault("child of a worker stopped", _stopped(lambda stage: stage.children_of(_WORKER), 4.0)),
    Fault("API killed", _killed(lambda stage: stage.named(_API)), 2),
    Fault("API stopped for a while", _stopped(lambda stage: stage.named(_API), 4.0)),
    Fault("child of the API killed", _killed(lambda stage: stage.children_of(_API)), 2),
    Fault("postmaster killed", _killed(lambda stage: stage.named(_POSTMASTER))),
    Fault("postmaster stopped for a while", _stopped(lambda stage: stage.named(_POSTMASTER), 4.0)),
    Fault("backend killed", _killed(lambda stage: stage.named(_BACKEND)), 2),
    Fault("connections ended", _terminated, 2),
    Fault("database slow", _slow),
    Fault("database cut off", _cut),
    Fault("connections reset", _reset, 2),
    Fault("disk full", _full),
    Fault("clock of API and workers stepped", _stepped(1)),
    Fault("clock of the database, too, stepped", _stepped(0)),
)
