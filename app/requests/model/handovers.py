"""Handovers of masked tables, and the leases of programs that hand them over."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from app.platform.errors import Fault
from app.requests.model.data_requests import DataRequest
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
