"""The state of the process, which every route may use, and what callers may use of it."""

from asyncio import Event
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Self

from fastapi import Depends, Request
from procrastinate import App
from sqlalchemy.ext.asyncio import AsyncSession

from app.advice.service.recent_versions import RecentVersions
from app.advice.store.announcements import Announcements
from app.audit.service import Signer
from app.callers.identity import CodeFlow, TokenReader
from app.callers.service import SessionRules
from app.entries.service.admission import Admission
from app.entries.service.policy import Policy
from app.factory import Factory
from app.platform.database.probe import Probe
from app.platform.database.session import Database
from app.platform.errors import StorageFullError
from app.platform.http.bodies import BodyBudget
from app.platform.http.rate_limit import Guesses
from app.platform.process.child import ChildProcess
from app.platform.process.disk import Disk
from app.platform.queue.lane import Lane
from app.platform.rates import Rate
from app.platform.recent import MOST_OF_ANSWERS, Recent
from app.platform.telemetry import ApiMetrics
from app.settings import Settings
from app.tenants.model import NO_QUOTA, Quota

#: Seconds in which rates are counted.
MINUTE, DAY = 60.0, 86_400.0

#: Requests of a tenant in a day that may have an idempotency key, each of which is kept for a day.
MOST_KEYS: Final = 100_000

#: So many of the largest bodies are held in memory together.
LARGE_BODIES: Final = 4


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for callers. Those for single tenants do not apply in development mode, where there is one.

    Attributes:
        bodies: how large all entries together may be that are being read.
        quota: what a tenant may use that has no quota of its own.
        requests: how many requests a tenant may send; None for no limit.
        idempotency_keys: how many of them may have an idempotency key; None for no limit.
        guesses: wrong keys by address; None if they are not limited.
        disk: the disk of the database; None if it is not known.
        request_days: days without any action after which a request for data ends.
    """

    bodies: BodyBudget
    quota: Quota
    requests: Rate | None
    idempotency_keys: Rate | None
    guesses: Guesses | None
    disk: Disk | None
    request_days: int

    @classmethod
    def by(cls, settings: Settings, *, development_mode: bool) -> Self:
        """The limits that settings name."""
        has_tenants = not development_mode
        return cls(
            bodies=BodyBudget(LARGE_BODIES * settings.max_body_bytes),
            quota=Quota.from_numbers({"jobs": settings.tenant_jobs} | settings.quota) if has_tenants else NO_QUOTA,
            requests=Rate(settings.rate_limit, MINUTE) if has_tenants and settings.rate_limit else None,
            idempotency_keys=Rate(MOST_KEYS, DAY) if has_tenants else None,
            guesses=Guesses(Rate(settings.wrong_keys, MINUTE)) if settings.wrong_keys else None,
            disk=None if settings.disk_dir is None else Disk(settings.disk_dir, settings.disk_reserve_bytes),
            request_days=settings.request_days,
        )

    def guess(self, request: Request, secret: str) -> AbstractContextManager[None]:
        """Look a key or a code up in the block, which raises `UnknownKeyError` if it is wrong.

        Raises:
            TooManyGuessesError: too many wrong ones came from the caller's address.
        """
        address = "" if request.client is None else request.client.host
        return nullcontext() if self.guesses is None else self.guesses.attempt(address, secret)

    def refuse_full_disk(self) -> None:
        """Refuse to store more.

        Raises:
            StorageFullError: the disk of the database is almost full.
        """
        if self.disk is not None and not self.disk.has_room:
            raise StorageFullError("The disk of the database is almost full: nothing more is stored until it has room.")


@dataclass(frozen=True, slots=True)
class State:
    """The state of the process: made when it starts, and kept at `request.app.state.aegis`.

    Attributes:
        database: the catalogue's.
        probe: looks whether it answers.
        queue: the queue of jobs.
        announcements: tell which advice has been answered.
        checking: the child processes that check entries.
        making: the child process that makes large answers.
        recent: what is known of the versions that were asked about lately.
        max_body_bytes: how large an entry may be.
        limits: what callers may use.
        question_budget: how many questions a tenant with the coarse view may ask about a version.
        tenant_jobs: how many jobs of a tenant may run at the same time.
        policy: what disclosure control entries must have.
        admission: what is asked of new versions besides.
        development_mode: whether everybody may do everything.
        webhooks_allow_private: whether webhooks may lead into private networks.
        links_allow_private: whether links to delivered tables may.
        metrics: what the process counts.
        session_rules: how long people stay signed in to the console.
        console_origin: where browsers find the console; None if that is where they ask for it.
        tokens: reads tokens of the trusted issuer; None if there is none.
        code_flow: signs people in at that issuer; None if it does not know this service.
        signer: signs receipts; None if there is no key.
        read: what the console has made of the versions that were read lately.
        answers: what it has made of answers.
        ending: set once the process is asked to end.
    """

    database: Database
    probe: Probe
    queue: App
    announcements: Announcements
    checking: Mapping[Lane, ChildProcess]
    making: ChildProcess
    recent: RecentVersions
    max_body_bytes: int
    limits: Limits
    question_budget: int
    tenant_jobs: int
    policy: Policy
    admission: Admission
    development_mode: bool
    webhooks_allow_private: bool
    links_allow_private: bool
    metrics: ApiMetrics
    session_rules: SessionRules
    console_origin: str | None = None
    tokens: TokenReader | None = None
    code_flow: CodeFlow | None = None
    signer: Signer | None = None
    read: Recent[Any] = field(default_factory=Recent)
    answers: Recent[Any] = field(default_factory=lambda: Recent(MOST_OF_ANSWERS))
    ending: Event = field(default_factory=Event)


def get_state(request: Request) -> State:
    """The state of the process."""
    state: State = request.app.state.aegis
    return state


StateDependency = Annotated[State, Depends(get_state)]


def services_of(state: State, session: AsyncSession) -> Factory:
    """The services of a transaction, by the settings of the process."""
    return Factory(session, state.queue, state.tenant_jobs, state.limits.quota)
