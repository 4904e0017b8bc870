"""Verifications: what consumers find out about the masked tables that were delivered to them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self

from app.platform.callers import Caller
from app.platform.errors import Fault
from app.requests.model.data_requests import Action, DataRequest
from app.requests.model.handovers import Handover
from app.tenants.model import RequiredPrivacy

#: Relative difference of two numbers that both sides computed from the same counts.
_TOLERANCE = 1e-6


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
            if self.measured.at_least.get(name, limit) < limit * (1 - _TOLERANCE):
                yield Fault(f"/privacy/{name}", f"Is below {limit:g}, which was delivered; dispute it.")
        for name, limit in delivered.at_most.items():
            if self.measured.at_most.get(name, limit) > limit + _TOLERANCE * max(1.0, limit):
                yield Fault(f"/privacy/{name}", f"Is above {limit:g}, which was delivered; dispute it.")
