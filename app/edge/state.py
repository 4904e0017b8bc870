"""The process-wide state, available to every route, and the limits for callers."""

import shutil
from asyncio import Event
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Final, Generic, Protocol, Self, TypeVar

import structlog
from fastapi import Depends, Request
from procrastinate import App
from sqlalchemy.ext.asyncio import AsyncSession

from app.advice.service.advice import RecentVersions
from app.advice.store.announcements import Announcements
from app.audit.service import Signer
from app.callers.identity.code_flow import CodeFlow
from app.callers.identity.tokens import TokenReader
from app.callers.service import SessionRules
from app.entries.service.admission import Admission
from app.entries.service.checks import Policy
from app.factory import Factory
from app.platform.database.probe import Probe
from app.platform.database.session import Database
from app.platform.errors import StorageFullError
from app.platform.http.bodies import BodyBudget
from app.platform.http.rate_limit import Guesses, Rate
from app.platform.process.child import ChildProcess
from app.platform.queue.model import Lane
from app.platform.telemetry import ApiMetrics
from app.settings import Settings
from app.tenants.model import NO_QUOTA, Quota

_log = structlog.get_logger(__name__)

#: Seconds for which a check is valid.
_FRESH: Final = 1.0


class Disk:
    """A disk with a reserve of free space, since PostgreSQL stops completely on a full disk.

    Args:
        reserve: the bytes that must stay free.
    """

    def __init__(self, directory: Path, reserve: int, clock: Callable[[], float] = monotonic) -> None:
        self._directory, self._reserve, self._clock = directory, reserve, clock
        self._has_room, self._looked = True, float("-inf")

    @property
    def has_room(self) -> bool:
        """Whether more may be stored."""
        if self._clock() - self._looked <= _FRESH:
            return self._has_room
        self._looked = self._clock()
        try:
            has_room = shutil.disk_usage(self._directory).free >= self._reserve
        except OSError as error:
            _log.warning("the disk cannot be checked", error=type(error).__name__)
            has_room = True
        if has_room != self._has_room:
            _log.warning("the disk has room again" if has_room else "the disk is almost full: nothing more is stored")
        self._has_room = has_room
        return has_room


class HasSize(Protocol):
    """An object with a known size."""

    @property
    def size(self) -> int:
        """Approximate size in bytes."""


Made = TypeVar("Made", bound=HasSize)

#: The default size of a cache in bytes.
MOST_BYTES, MOST_OF_ANSWERS = 64 * 1024 * 1024, 16 * 1024 * 1024


class Recent(Generic[Made]):
    """A cache, limited in bytes, of what is derived from immutable data.

    It drops the least recently used first. Callers check the right to read before every use.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._kept: OrderedDict[Hashable, Made] = OrderedDict()
        self._most_bytes = most_bytes
        self._bytes = 0

    def find(self, key: Hashable) -> Made | None:
        """The cached object; None if there is none."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def keep(self, key: Hashable, made: Made) -> None:
        """Cache an object unless it is too large. The key names everything it depends on, readers included."""
        if made.size > self._most_bytes // 2 or self.find(key) is not None:
            return
        self._kept[key] = made
        self._bytes += made.size
        while self._bytes > self._most_bytes:
            self._bytes -= self._kept.popitem(last=False)[1].size


#: The period of rate limits in seconds.
MINUTE, DAY = 60.0, 86_400.0

#: A tenant's requests with an idempotency key per day; each key is stored for a day.
MOST_KEYS: Final = 100_000

#: How many bodies of the largest size fit into memory together.
LARGE_BODIES: Final = 4


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for callers. Those for single tenants do not apply in development mode, where there is one.

    Attributes:
        bodies: the total size of the entries being read.
        requests: the rate of a tenant's requests; None for no limit.
        request_days: days without an action after which a data request expires.
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
        """The limits from the settings."""
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
        """Guard a block that looks up a key or a code and raises `UnknownKeyError` for a wrong one.

        Raises:
            TooManyGuessesError: too many wrong ones from the caller's address.
        """
        address = "" if request.client is None else request.client.host
        return nullcontext() if self.guesses is None else self.guesses.attempt(address, secret)

    def refuse_full_disk(self) -> None:
        """Refuse to store more.

        Raises:
            StorageFullError: the disk of the database is almost full.
        """
        if self.disk is not None and not self.disk.has_room:
            raise StorageFullError("The disk of the database is almost full; free some space to store more.")


@dataclass(frozen=True, slots=True)
class State:
    """The process-wide state, made at the start and stored as `request.app.state.aegis`.

    Attributes:
        announcements: notify of answered advice.
        checking: the child processes that check entries.
        making: the child process that makes large answers.
        recent: cached facts of the versions that were last asked about.
        max_body_bytes: the largest size of an entry.
        question_budget: questions about a version for a tenant that sees it coarsely.
        tenant_jobs: a tenant's most concurrent jobs.
        policy: the required disclosure control of entries.
        admission: the other requirements of new versions.
        development_mode: whether everyone may do everything, without a key.
        console_origin: the console's configured origin; None if it follows the header `Host`.
        read: the console's cached data of recently shown versions.
        answers: its cached data of answers.
        ending: set when the process begins to stop.
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
    """The services of a transaction, with the settings of the process."""
    return Factory(session, state.queue, state.tenant_jobs, state.limits.quota)
