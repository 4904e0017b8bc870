"""Handovers of masked tables: who may hand them over, what providers say of them, and what consumers find out."""

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
    """The fulfilment of a request, for one program and some time.

    Attributes:
        id: known only to the program that has it.
        expires_at: when it ends unless it is renewed, by the database's clock.
    """

    id: str
    expires_at: datetime


#: Relative tolerance of numbers that a provider computed from logarithms and fractions.
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Link:
    """Where a file is, and until when; None if the link does not end."""

    url: str
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Handover:
    """A delivered file.

    Attributes:
        media_type: its format.
        size: how many bytes it has.
        sha256: its SHA-256, 64 hexadecimal digits.
        records: how many records it has.
        configuration: by which it was masked.
        reached: the privacy that was measured in it.
        card: the release card as compressed JSON; None if there is none.
        delivered_at: when the provider said so, by the database's clock; None before it is stored.
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
        """What of it is not what was agreed upon.

        Args:
            request: the approved request.
            digest: of the entry's version, as the provider says.
            vouched: what the entry vouches for in this configuration, by criterion.
        """
        if self.configuration != request.configuration:
            yield Fault("/configuration", f"The configuration that was approved is {request.configuration!r}.")
            return
        if digest != request.digest:
            yield Fault("/entry_digest", f"The request is about version {request.version}: {request.digest}.")
            return
        required = request.required
        for name in sorted(vouched.keys() | required.numbers.keys()):
            if (detail := self._broken(name, required, vouched.get(name))) is not None:
                yield Fault(f"/privacy/{name}", detail)

    def _broken(self, name: str, required: RequiredPrivacy, vouched: float | None) -> str | None:
        """What is wrong with what was measured by a criterion; None if nothing is."""
        limits = [limit for limit in (required.numbers.get(name), vouched) if limit is not None]
        if name in self.reached.at_least:
            reached, limit = self.reached.at_least[name], max(limits)
            is_kept, words = reached >= limit * (1 - _TOLERANCE), "at least"
        elif name in self.reached.at_most:
            reached, limit = self.reached.at_most[name], min(limits)
            is_kept, words = reached <= limit * (1 + _TOLERANCE), "at most"
        else:
            return "Say what was measured: the configuration vouches for it, or it was required."
        return None if is_kept else f"Was to be {words} {limit:g}, but is {reached:g}."


def is_over(link: Link, now: datetime) -> bool:
    """Whether a link has ended."""
    return link.expires_at is not None and link.expires_at <= now


#: Relative difference of two numbers that both sides computed from the same counts.
_VERDICT_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Verification:
    """What a consumer says of a delivered file.

    Attributes:
        sha256: of the file that was checked, 64 hexadecimal digits; None if there was no file.
        size: its bytes; None likewise.
        records: how many records it has; None if it could not be read.
        measured: the privacy that was measured in it.
        cells_compared: how many counts were compared with published ones.
        cells_differing: how many of these differ in a way that they may not.
        differences: the first of these, as the contract has them; None for who may not read counts.
        verified_at: when the consumer said so, by the database's clock; None before it is stored.
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
        """Why this cannot be what a consumer says that takes this step."""
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
        """What the caller may read of it: only who may read counts sees those that differ."""
        return self if request.shows_counts_to(caller) else replace(self, differences=None)

    def _is_of_another_file(self, handover: Handover) -> bool:
        """Whether it is of another file, or of one with another number of records than was said; none is no number."""
        return self.sha256 != handover.sha256 or self.records not in (None, handover.records)

    def _other_file(self, handover: Handover) -> Iterator[Fault]:
        told = {"sha256": self.sha256, "size": self.size, "records": self.records}
        for name, number in told.items():
            if number != (delivered := getattr(handover, name)):
                yield Fault(f"/{name}", f"The file that was delivered has {delivered}.")

    def _less_private(self, delivered: RequiredPrivacy) -> Iterator[Fault]:
        for name, limit in delivered.at_least.items():
            if self.measured.at_least.get(name, limit) < limit * (1 - _VERDICT_TOLERANCE):
                yield Fault(f"/privacy/{name}", f"Is below {limit:g}, which was delivered; dispute it.")
        for name, limit in delivered.at_most.items():
            if self.measured.at_most.get(name, limit) > limit + _VERDICT_TOLERANCE * max(1.0, limit):
                yield Fault(f"/privacy/{name}", f"Is above {limit:g}, which was delivered; dispute it.")
