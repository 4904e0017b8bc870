"""The operator's overview: health checks, queue and workers."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Self

from app.audit.service import Health
from app.edge.state import State
from app.platform.database.probe import HeardLane, ProbeReading, Pulse, Queue
from app.platform.queue.lane import Lane

Standing = Literal["good", "warn", "bad", "unknown"]

#: The names of the standings.
_WORDS = {"good": "Fine", "warn": "Look at it", "bad": "Broken", "unknown": "Not known"}


@dataclass(frozen=True, slots=True)
class Check:
    """A health check.

    Attributes:
        standing: the key of its result in `_WORDS`.
        text: the result in a sentence, with the remedy.
    """

    name: str
    standing: Standing
    text: str

    @property
    def word(self) -> str:
        """The result in a word."""
        return _WORDS[self.standing]


@dataclass(frozen=True, slots=True)
class LaneLoad:
    """The jobs of a lane."""

    lane: Lane
    waiting: int
    oldest_seconds: float
    running: int


@dataclass(frozen=True, slots=True)
class Overview:
    """The health of the service at a time.

    Attributes:
        lanes: the queue; None if it was not read.
        events: the number of pending webhook events.
        oldest_event_seconds: the age of the oldest of them.
    """

    at: datetime
    checks: tuple[Check, ...]
    lanes: tuple[LaneLoad, ...] | None
    events: int
    oldest_event_seconds: float
    workers: tuple[HeardLane, ...]

    @classmethod
    def of(cls, state: State, reading: ProbeReading, health: Health | None, workers: tuple[HeardLane, ...]) -> Self:
        """The overview from the readings."""
        queue = reading.queue
        return cls(
            datetime.now(UTC),
            _checks(state, reading.pulse, health),
            None if queue is None else tuple(_load(queue, lane) for lane in Lane),
            0 if queue is None else queue.events,
            0.0 if queue is None else queue.oldest_event_seconds,
            workers,
        )


def _checks(state: State, pulse: Pulse | None, health: Health | None) -> tuple[Check, ...]:
    checks = [_database(pulse), _disk(state), _workers(pulse)]
    if health is not None:
        checks += [_schema(health), _log(health), _heads(health, signs=state.signer is not None)]
    return tuple(checks)


def _database(pulse: Pulse | None) -> Check:
    if pulse is None:
        return Check("Database", "bad", "It does not respond. Restart it; the service recovers by itself.")
    return Check("Database", "good", f"It responds in {1000 * pulse.seconds:.1f} ms.")


def _workers(pulse: Pulse | None) -> Check:
    if pulse is None:
        return Check("Workers", "unknown", "Not known while the database does not respond.")
    if pulse.workers == 0:
        return Check("Workers", "warn", "No heartbeat in the last seconds, so new questions wait: start a worker.")
    return Check("Workers", "good", f"{pulse.workers} with a heartbeat in the last seconds.")


def _disk(state: State) -> Check:
    disk = state.limits.disk
    if disk is None:
        text = "Not monitored: set AEGIS_DISK_DIR to a directory on the disk of the database."
        return Check("Disk", "unknown", text)
    if not disk.has_room:
        return Check("Disk", "bad", "Almost full; the service stores nothing more until you free space.")
    return Check("Disk", "good", "It has free space.")


def _schema(health: Health) -> Check:
    if health.revision != health.expected:
        text = f"The database has revision {health.revision}, but this version needs {health.expected}."
        return Check("Migrations", "bad", f"{text} Run aegis-server migrate, and restart.")
    return Check("Migrations", "good", f"The database has the required revision {health.revision}.")


def _log(health: Health) -> Check:
    if health.is_changeable:
        text = "The service's database role could change it: set AEGIS_OWNER_DATABASE_URL."
        return Check("Audit log", "warn", text)
    records = 0 if health.last is None else health.last.sequence
    return Check("Audit log", "good", f"The service can only add to it; {records:,} records so far.")


def _heads(health: Health, *, signs: bool) -> Check:
    if not signs:
        text = "No receipts and no signed heads of the audit log: set AEGIS_AUDIT_KEY_FILE."
        return Check("Signatures", "warn", text)
    if health.head is None:
        return Check(
            "Signatures", "good", "Receipts are signed; the first head of the audit log will be signed within a day."
        )
    signed = f"{health.head.signed_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return Check("Signatures", "good", f"The audit log is signed up to record {health.head.sequence:,} ({signed}).")


def _load(queue: Queue, lane: Lane) -> LaneLoad:
    backlogs = [one for one in queue.backlogs if one.lane is lane]
    oldest = max((one.oldest_seconds for one in backlogs), default=0.0)
    return LaneLoad(lane, sum(one.jobs for one in backlogs), oldest, queue.running.get(lane, 0))
