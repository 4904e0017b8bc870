"""What callers may use of one API process, by its settings."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Final, Self

from starlette.requests import Request

from app.platform.errors import StorageFullError
from app.platform.http.bodies import BodyBudget
from app.platform.http.guesses import Guesses
from app.platform.process.disk import Disk
from app.platform.rates import Rate
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
