"""The operator's overview: health checks, queue, workers, tenants, and the settings of the service."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Self

from fastapi import APIRouter, Request, Response

from app.audit.service import Health
from app.edge.state import State, StateDependency, services_of
from app.pages.commands import Commands, curl, server
from app.pages.page import page
from app.pages.page_route import PageRoute
from app.pages.viewers import Viewer, ViewerDependency
from app.pages.words import count, size
from app.platform.callers import administered_tenant
from app.platform.database.probe import HeardLane, ProbeReading, Pulse
from app.platform.queue.model import Lane
from app.settings import Settings
from app.tenants.service import TenantPage

Standing = Literal["good", "warn", "bad", "unknown"]

#: The names of the standings.
_WORDS = {"good": "Fine", "warn": "Look at it", "bad": "Broken", "unknown": "Not known"}

router = APIRouter(route_class=PageRoute)

#: Tenants on the overview.
FEW_TENANTS = 10


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting."""

    variable: str
    value: str
    meaning: str


def _settings(state: State) -> dict[str, list[Setting]]:
    """The settings for all tenants by topic, without secrets and database URLs."""
    policy, admission, limits, word = state.policy, state.admission, state.limits, {True: "yes", False: "no"}
    entries = {
        "small_counts": admission.small_counts.rule.value,
        "min_cell": "not set" if policy.min_cell is None else count(policy.min_cell),
        "require_noise": word[policy.require_noise],
        "max_epsilon": "not set" if policy.max_epsilon is None else f"{policy.max_epsilon:g}",
        "require_privacy": ", ".join(words for _, words in admission.required.in_words()) or "nothing",
        "max_body_bytes": size(state.max_body_bytes),
    }
    tenants = {
        "question_budget": count(state.question_budget),
        "quota": ", ".join(f"{name} {count(limit)}" for name, limit in limits.quota.numbers.items()) or "none",
        "tenant_jobs": count(state.tenant_jobs),
        "rate_limit": "none" if limits.requests is None else count(limits.requests.amount),
        "request_days": count(limits.request_days),
        "webhooks_allow_private": word[state.webhooks_allow_private],
        "links_allow_private": word[state.links_allow_private],
    }
    meanings = {name: str(field.description).replace("`", "") for name, field in Settings.model_fields.items()}
    return {
        topic: [Setting(f"AEGIS_{name.upper()}", value, meanings[name]) for name, value in values.items()]
        for topic, values in (("Requirements of entries", entries), ("Limits of tenants", tenants))
    }


@dataclass(frozen=True, slots=True)
class Check:
    """A health check."""

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
        pulse, queue = reading.pulse, reading.queue
        checks = [_database(pulse), _disk(state), _workers(pulse)]
        if health is not None:
            checks += [_schema(health), _log(health), _heads(health, signs=state.signer is not None)]
        at, checked = datetime.now(UTC), tuple(checks)
        if queue is None:
            return cls(at, checked, None, 0, 0.0, workers)
        lanes = []
        for lane in Lane:
            backlogs = [one for one in queue.backlogs if one.lane is lane]
            oldest = max((one.oldest_seconds for one in backlogs), default=0.0)
            lanes.append(LaneLoad(lane, sum(one.jobs for one in backlogs), oldest, queue.running.get(lane, 0)))
        return cls(at, checked, tuple(lanes), queue.events, queue.oldest_event_seconds, workers)


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


@router.get("/operator")
async def show_overview(request: Request, viewer: ViewerDependency, state: StateDependency) -> Response:
    """The current health of the service; the page updates itself."""
    overview, tenants = await _overview(state, viewer, FEW_TENANTS)
    commands = Commands((server("tenants", "list"), server("keys", "list")), (curl(viewer, "/readyz"),))
    return page(
        request, "operator/overview.html", overview=overview, tenants=tenants, commands=commands, here="operator"
    )


@router.get("/operator/health")
async def show_health(request: Request, viewer: ViewerDependency, state: StateDependency) -> Response:
    """The part of the overview that is updated."""
    overview, _ = await _overview(state, viewer, 0)
    return page(request, "operator/health.html", overview=overview)


@router.get("/operator/settings")
async def show_settings(request: Request, viewer: ViewerDependency, state: StateDependency) -> Response:
    """The settings for all tenants."""
    administered_tenant(viewer.caller, None)
    commands = Commands((server("serve", "--help"),), (curl(viewer, "/readyz"),))
    return page(request, "operator/settings.html", groups=_settings(state), commands=commands, here="operator")


async def _overview(state: State, viewer: Viewer, most_tenants: int) -> tuple[Overview, TenantPage | None]:
    """The health of the service and its first tenants; no tenants while the database does not respond."""
    administered_tenant(viewer.caller, None)
    reading = await state.probe.read()
    if reading.pulse is None:
        return Overview.of(state, reading, None, ()), None
    workers = await state.probe.workers()
    async with state.database.transaction() as session:
        services = services_of(state, session)
        health = await services.health().look(viewer.caller)
        tenants = (
            await services.tenant_administration().tenants(viewer.caller, most_tenants, None) if most_tenants else None
        )
    return Overview.of(state, reading, health, workers), tenants
