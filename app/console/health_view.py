"""What the operator's overview shows: whether all is well, the queue and the workers."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Self

from app.audit.service import Health
from app.edge.state import State
from app.platform.database.probe import HeardLane, ProbeReading, Pulse, Queue
from app.platform.queue.lane import Lane

Standing = Literal["good", "warn", "bad", "unknown"]

#: What the standings are called.
_WORDS = {"good": "Fine", "warn": "Look at it", "bad": "Broken", "unknown": "Not known"}


@dataclass(frozen=True, slots=True)
class Check:
    """Something that should be in order.

    Attributes:
        name: what it is.
        standing: how it is.
        text: the same in a sentence, with what helps.
    """

    name: str
    standing: Standing
    text: str

    @property
    def word(self) -> str:
        """How it is, in a word."""
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
    """How the service is at a time.

    Attributes:
        at: the time.
        checks: what should be in order.
        lanes: the queue; None if it was not read.
        events: how many events wait for their webhooks.
        oldest_event_seconds: the age of the oldest of them.
        workers: the lanes of workers.
    """

    at: datetime
    checks: tuple[Check, ...]
    lanes: tuple[LaneLoad, ...] | None
    events: int
    oldest_event_seconds: float
    workers: tuple[HeardLane, ...]

    @classmethod
    def of(cls, state: State, reading: ProbeReading, health: Health | None, workers: tuple[HeardLane, ...]) -> Self:
        """The overview of what was read."""
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
        return Check("Database", "bad", "It does not answer. Bring it back: the service goes on by itself.")
    return Check("Database", "good", f"It answers in {1000 * pulse.seconds:.1f} ms.")


def _workers(pulse: Pulse | None) -> Check:
    if pulse is None:
        return Check("Workers", "unknown", "Not known while the database does not answer.")
    if pulse.workers == 0:
        return Check("Workers", "warn", "None was heard of in the last seconds, so new questions wait: start one.")
    return Check("Workers", "good", f"{pulse.workers} heard of in the last seconds.")


def _disk(state: State) -> Check:
    disk = state.limits.disk
    if disk is None:
        text = "Not watched here: AEGIS_DISK_DIR names no directory on the disk of the database."
        return Check("Disk", "unknown", text)
    if not disk.has_room:
        return Check("Disk", "bad", "Almost full, so nothing more is stored: make room.")
    return Check("Disk", "good", "It has room.")


def _schema(health: Health) -> Check:
    if health.revision != health.expected:
        text = f"The database has revision {health.revision}, and this version works with {health.expected}."
        return Check("Migrations", "bad", f"{text} Run aegis-server migrate, and restart.")
    return Check("Migrations", "good", f"The database is at revision {health.revision}, as this version needs it.")


def _log(health: Health) -> Check:
    if health.is_changeable:
        text = "The service's own role of the database could change it: set AEGIS_OWNER_DATABASE_URL."
        return Check("Audit log", "warn", text)
    records = 0 if health.last is None else health.last.sequence
    return Check("Audit log", "good", f"The service can only add to it; {records:,} records so far.")


def _heads(health: Health, *, signs: bool) -> Check:
    if not signs:
        text = "No receipts and no signed heads of the audit log: set AEGIS_AUDIT_KEY_FILE."
        return Check("Signatures", "warn", text)
    if health.head is None:
        return Check(
            "Signatures", "good", "Receipts are signed; the first head of the audit log will be, within a day."
        )
    signed = f"{health.head.signed_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return Check("Signatures", "good", f"The audit log is signed up to record {health.head.sequence:,} ({signed}).")


def _load(queue: Queue, lane: Lane) -> LaneLoad:
    backlogs = [one for one in queue.backlogs if one.lane is lane]
    oldest = max((one.oldest_seconds for one in backlogs), default=0.0)
    return LaneLoad(lane, sum(one.jobs for one in backlogs), oldest, queue.running.get(lane, 0))
