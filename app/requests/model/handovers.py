"""Handovers of masked tables: leases, deliveries and verifications."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self

from app.platform.callers import Caller
from app.platform.errors import Fault
from app.requests.model.data_requests import Action, DataRequest
from app.tenants.model import RequiredPrivacy


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of one program to fulfil a request for some time.

    Attributes:
        id: known only to the program that has the lease.
        expires_at: when it ends unless renewed, by the database's clock.
    """

    id: str
    expires_at: datetime


#: Relative tolerance of numbers that the provider computed from logarithms and fractions.
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Link:
    """The address of a file, and its expiry, None for a link that does not expire."""

    url: str
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Handover:
    """A delivered file.

    Attributes:
        size: in bytes.
        sha256: 64 hexadecimal digits.
        records: the number of records.
        configuration: the configuration that masked it.
        reached: the measured privacy by criterion.
        card: the release card as compressed JSON; None if there is none.
        delivered_at: the time of the provider's message, by the database's clock; None before it is stored.
    """

    link: Link
    media_type: str
    size: int
    sha256: str
    records: int
    configuration: str
    reached: RequiredPrivacy
    card: bytes | None = None
    delivered_at: datetime | None = None

    def faults(self, request: DataRequest, digest: str, vouched: Mapping[str, float]) -> Iterator[Fault]:
        """A fault for every deviation from the agreement.

        Args:
            request: the approved request.
            digest: the digest of the entry's version that the provider states.
            vouched: the privacy that the entry guarantees for this configuration, by criterion.
        """
        if self.configuration != request.configuration:
            yield Fault("/configuration", f"The approved configuration is {request.configuration!r}.")
            return
        if digest != request.digest:
            yield Fault("/entry_digest", f"The request is about version {request.version}: {request.digest}.")
            return
        required = request.required
        for name in sorted(vouched.keys() | required.numbers.keys()):
            if (detail := self._broken(name, required, vouched.get(name))) is not None:
                yield Fault(f"/privacy/{name}", detail)

    def _broken(self, name: str, required: RequiredPrivacy, vouched: float | None) -> str | None:
        """The fault of the value measured for a criterion; None if there is none."""
        limits = [limit for limit in (required.numbers.get(name), vouched) if limit is not None]
        if name in self.reached.at_least:
            reached, limit = self.reached.at_least[name], max(limits)
            is_kept, words = reached >= limit * (1 - _TOLERANCE), "at least"
        elif name in self.reached.at_most:
            reached, limit = self.reached.at_most[name], min(limits)
            is_kept, words = reached <= limit * (1 + _TOLERANCE), "at most"
        else:
            return "State the measured value: the configuration guarantees the criterion, or the request requires it."
        return None if is_kept else f"Must be {words} {limit:g}, but is {reached:g}."


def is_over(link: Link, now: datetime) -> bool:
    """Whether a link has expired."""
    return link.expires_at is not None and link.expires_at <= now


#: Relative difference of two numbers that both sides computed from the same counts.
_VERDICT_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Verification:
    """A consumer's verification of a delivered file.

    Attributes:
        sha256: of the checked file, 64 hexadecimal digits; None if there was no file.
        size: its size in bytes; None if there was no file.
        records: its number of records; None if it could not be read.
        measured: the measured privacy by criterion.
        cells_compared: the number of counts compared with published ones.
        cells_differing: the number of inadmissible differences.
        differences: the first of these, in the contract's form; None for callers who may not read counts.
        verified_at: the time of the consumer's message, by the database's clock; None before it is stored.
    """

    sha256: str | None
    size: int | None
    records: int | None
    measured: RequiredPrivacy
    cells_compared: int
    cells_differing: int
    differences: tuple[Mapping[str, Any], ...] | None
    verified_at: datetime | None = None

    def faults(self, action: Action, reason: str | None, handover: Handover) -> Iterator[Fault]:
        """The contradictions between this verification and the consumer's action."""
        if action is Action.DISPUTE:
            if self.sha256 is None and reason is None:
                yield Fault("/reason", "Say what is wrong, since no file was checked.")
            elif self.sha256 == handover.sha256 and self.size != handover.size:
                yield Fault("/size", f"The file with this SHA-256 has {handover.size} bytes.")
            elif not self.cells_differing and reason is None and not self._is_of_another_file(handover):
                yield Fault("", "Say what is wrong: give cells that differ, a reason, or another file.")
            return
        yield from self._other_file(handover)
        if self.cells_differing:
            yield Fault("/cells_differing", "A table of which cells differ is disputed, not received.")
        yield from self._less_private(handover.reached)

    def seen_by(self, caller: Caller, request: DataRequest) -> Self:
        """The part that the caller may read: only readers of the counts see the differing ones."""
        return self if request.shows_counts_to(caller) else replace(self, differences=None)

    def _is_of_another_file(self, handover: Handover) -> bool:
        """Whether the file or its number of records differs from the delivered one; None does not count as a number."""
        return self.sha256 != handover.sha256 or self.records not in (None, handover.records)

    def _other_file(self, handover: Handover) -> Iterator[Fault]:
        stated = {"sha256": self.sha256, "size": self.size, "records": self.records}
        for name, number in stated.items():
            if number != (delivered := getattr(handover, name)):
                yield Fault(f"/{name}", f"The delivered file has {delivered}.")

    def _less_private(self, delivered: RequiredPrivacy) -> Iterator[Fault]:
        for name, limit in delivered.at_least.items():
            if self.measured.at_least.get(name, limit) < limit * (1 - _VERDICT_TOLERANCE):
                yield Fault(f"/privacy/{name}", f"Is below the delivered {limit:g}; dispute the delivery.")
        for name, limit in delivered.at_most.items():
            if self.measured.at_most.get(name, limit) > limit + _VERDICT_TOLERANCE * max(1.0, limit):
                yield Fault(f"/privacy/{name}", f"Is above the delivered {limit:g}; dispute the delivery.")
