"""Data requests: a consumer asks for a masked table and states the purpose; its provider decides, and hands it over.

`TRANSITIONS` is the only definition of who may do what, and when. This module is independent of SQL and HTTP.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Self

import msgspec

from app.advice.model import AdviceQuestion, View
from app.platform.callers import Caller
from app.platform.errors import ActionNotPossibleError, Fault, RoleNotAllowedError
from app.platform.queue.model import Problem
from app.tenants.model import RequiredPrivacy


class State(StrEnum):
    """The state of a request."""

    REQUESTED = "requested"
    ADVISED = "advised"
    COUNTERED = "countered"
    APPROVED = "approved"
    DELIVERED = "delivered"
    RECEIVED = "received"
    DISPUTED = "disputed"
    FAILED = "failed"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"
    ENDED = "ended"


class Action(StrEnum):
    """An action on a request."""

    ADVISE = "advise"
    FAIL = "fail"
    APPROVE = "approve"
    DECLINE = "decline"
    COUNTER = "counter"
    ACCEPT = "accept"
    DELIVER = "deliver"
    RELINK = "relink"
    RECEIVE = "receive"
    DISPUTE = "dispute"
    WITHDRAW = "withdraw"
    EXPIRE = "expire"
    END = "end"


class Side(StrEnum):
    """The party for which somebody acts."""

    SERVICE = "service"
    PROVIDER = "provider"
    CONSUMER = "consumer"
    OPERATOR = "operator"


BEFORE_DELIVERY: Final = (State.REQUESTED, State.ADVISED, State.COUNTERED, State.APPROVED)

OPEN: Final = (*BEFORE_DELIVERY, State.DELIVERED)
"""The states from which a request can still change."""

HANDED_OVER: Final = (State.DELIVERED, State.RECEIVED, State.DISPUTED)
"""The states in which the consumer may have the masked table, and may read the counts for its verification."""


TRANSITIONS: Final[Mapping[tuple[State, Action], tuple[State, frozenset[Side]]]] = {
    (State.REQUESTED, Action.ADVISE): (State.ADVISED, frozenset({Side.SERVICE})),
    (State.REQUESTED, Action.FAIL): (State.FAILED, frozenset({Side.SERVICE})),
    (State.ADVISED, Action.APPROVE): (State.APPROVED, frozenset({Side.PROVIDER})),
    (State.ADVISED, Action.DECLINE): (State.DECLINED, frozenset({Side.PROVIDER})),
    (State.ADVISED, Action.COUNTER): (State.COUNTERED, frozenset({Side.PROVIDER})),
    (State.COUNTERED, Action.ACCEPT): (State.APPROVED, frozenset({Side.CONSUMER})),
    (State.APPROVED, Action.DELIVER): (State.DELIVERED, frozenset({Side.PROVIDER})),
    # What is approved counts as granted, so an approval of what cannot be delivered would block its consumer.
    (State.APPROVED, Action.DECLINE): (State.DECLINED, frozenset({Side.PROVIDER})),
    (State.DELIVERED, Action.RELINK): (State.DELIVERED, frozenset({Side.PROVIDER})),
    (State.DELIVERED, Action.RECEIVE): (State.RECEIVED, frozenset({Side.CONSUMER})),
    (State.DELIVERED, Action.DISPUTE): (State.DISPUTED, frozenset({Side.CONSUMER})),
    **{(state, Action.WITHDRAW): (State.WITHDRAWN, frozenset({Side.CONSUMER})) for state in BEFORE_DELIVERY},
    **{(state, Action.EXPIRE): (State.EXPIRED, frozenset({Side.SERVICE})) for state in OPEN},
    # The service itself ends the requests for a deleted entry.
    **{(state, Action.END): (State.ENDED, frozenset({Side.OPERATOR, Side.SERVICE})) for state in OPEN},
}
"""By state and action: the next state, and the sides that may act."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The costs of a configuration in the consumer's view of the advice; None for numbers it does not show.

    `about` is the configuration's name there, which all who see the entry may know.
    """

    rank: int
    utility_share: float | None = None
    deviation_share: float | None = None
    deviation: float | None = None
    about: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A step in the history of a request.

    Attributes:
        at: the time, by the database's clock; None before it is stored.
        subject: the prefix of a key, or the subject of a token; None for the service, or if unknown.
        tenant: the acting tenant; None for the service.
        beside: what the consumer had, where the provider accepted that its policy forbids the configuration beside it.
    """

    action: str
    state: State
    side: Side
    tenant: str | None = None
    subject: str | None = None
    reason: str | None = None
    configuration: str | None = None
    beside: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDataRequest:
    """What a consumer says.

    Attributes:
        question: the question of the advice, with the consumer's measure, attributes, weights and requirements.
        contact: a person for the provider's questions; None once it is erased.
        terms: the digest of the terms that the consumer accepted.
        configuration: the one asked for; None for the first of the advice.
    """

    question: AdviceQuestion
    purpose: str
    contact: str | None
    terms: str
    configuration: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataRequest(NewDataRequest):
    """A request for data.

    Attributes:
        entry_id: the entry, which may have been deleted.
        version_id: the catalogue's internal id of its version; None if that is deleted.
        digest: the version's content digest, for callers who may read the counts.
        keyed_digest: the digest for everyone else.
        question_id: the id of the advice for callers; None if it has been deleted.
        advice_id: the catalogue's internal id of the advice; None if it has been deleted.
        is_coarse: whether it was asked in the coarse view of the advice.
        configuration: the one asked for, offered or agreed; None for the first of advice that is not there yet.
        is_shared: whether all keys of its tenant may know what was asked in its view: the view is theirs, too.
        is_stale: whether the consumer sees a newer version of the entry.
        table_name: the table that the version says it is about; None: the entry's name stands for it.
    """

    id: str
    entry_id: str
    entry_name: str
    version: int
    version_id: int | None
    digest: str
    keyed_digest: str
    provider: str
    consumer: str
    question_id: str | None
    advice_id: str | None
    is_coarse: bool
    state: State
    created_at: datetime
    changed_at: datetime
    cost: Cost | None = None
    problem: Problem | None = None
    is_shared: bool = True
    is_stale: bool = False
    table_name: str | None = None

    @property
    def about(self) -> str | None:
        """The name of its configuration; None if it is not known."""
        return None if self.cost is None else self.cost.about

    @property
    def view(self) -> View:
        """The view of the advice in which it was asked."""
        return View.COARSE if self.is_coarse else View.FULL

    @property
    def required(self) -> RequiredPrivacy:
        """The privacy required of its configuration by the question and the policies of that time."""
        return self.question.required.stricter_of(self.question.policy)

    def sides_of(self, caller: Caller) -> frozenset[Side]:
        """The sides for which the caller can act; none for an outsider."""
        if caller.is_operator:
            return frozenset({Side.PROVIDER, Side.CONSUMER, Side.OPERATOR})
        sides = {Side.PROVIDER} if caller.tenant == self.provider and caller.may_publish else set()
        if caller.tenant == self.consumer:
            sides.add(Side.CONSUMER)
        return frozenset(sides)

    def is_visible_to(self, caller: Caller) -> bool:
        """Whether the caller may read it, as both tenants and operators may.

        One that was asked in the full view tells of the order within a step, so only those read it who have that view.
        """
        of_either = caller.tenant in (self.provider, self.consumer)
        return self._may_read_entry(caller) or (of_either and self.is_shared)

    def shows_full_view_to(self, caller: Caller) -> bool:
        """Whether the caller, who may read it, has the full view of the advice."""
        return self._may_read_entry(caller) or not self.is_coarse

    def _may_read_entry(self, caller: Caller) -> bool:
        """Whether the caller may read the counts of the entry."""
        return caller.is_operator or (caller.tenant == self.provider and caller.may_read_counts)

    def shows_counts_to(self, caller: Caller) -> bool:
        """Whether the caller may read the delivered table's counts: its consumer, and readers of the entry's counts."""
        return self._may_read_entry(caller) or caller.tenant == self.consumer

    def possible_for(self, sides: frozenset[Side]) -> tuple[Action, ...]:
        """The actions that these sides may take now."""
        return tuple(
            action for (state, action), (_, able) in TRANSITIONS.items() if state is self.state and able & sides
        )

    def after(self, action: Action, sides: frozenset[Side]) -> State:
        """The state after an action.

        Raises:
            RoleNotAllowedError: none of these sides may ever take the action.
            ActionNotPossibleError: it is not possible in the present state.
        """
        able = sides_able_to(action)
        if not able & sides:
            either = " or the ".join(sorted(side.value for side in able if side is not Side.SERVICE)) or "service"
            raise RoleNotAllowedError(f"Only the {either} of a request may {action} it.")
        then, able_now = TRANSITIONS.get((self.state, action), (self.state, frozenset()))
        if not able_now & sides:
            raise ActionNotPossibleError(self.state, action, self.possible_for(sides))
        return then

    def seen_by(self, caller: Caller) -> Self:
        """The request as the caller sees it: only readers of the counts get the content digest."""
        return self if self._may_read_entry(caller) else replace(self, digest=self.keyed_digest)


@dataclass(frozen=True, slots=True)
class DataRequestPage:
    """One page of a listing, newest first, and the token of the next page or None."""

    items: tuple[DataRequest, ...]
    next_page_token: str | None


def sides_able_to(action: Action) -> frozenset[Side]:
    """The sides that may ever take an action."""
    return frozenset[Side]().union(*(able for (_, named), (_, able) in TRANSITIONS.items() if named is action))


@dataclass(frozen=True, slots=True)
class FullRank:
    """The place of a configuration in the full view of the advice.

    Attributes:
        rank: 1 for the one that loses the least and those that lose the same; None if it is not listed.
        considered: the number of configurations that compete.
        best: one that loses the least; `about`: its name.
    """

    rank: int | None
    considered: int
    best: str
    about: str | None = None


@dataclass(frozen=True, slots=True)
class _Ranked:
    configuration: str


def configuration_of(row: Mapping[str, Any]) -> str:
    """The configuration of a row of a ranking."""
    return msgspec.convert(row, _Ranked).configuration


def cost_of(configuration: str, ranking: list[Mapping[str, Any]]) -> Cost | None:
    """The cost of a configuration in a ranking; None if the ranking lacks it."""
    rows = (row for row in ranking if configuration_of(row) == configuration)
    return next((msgspec.convert(row, Cost) for row in rows), None)


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
class Handover:
    """A delivered file.

    Attributes:
        expires_at: the end of the link to it; None for one that does not expire.
        size: in bytes.
        sha256: 64 hexadecimal digits.
        reached: the measured privacy by criterion.
        card: the release card as compressed JSON; None if there is none.
        delivered_at: the time of the provider's message, by the database's clock; None before it is stored.
    """

    url: str
    expires_at: datetime | None
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


#: Relative difference of two numbers that both sides computed from the same counts.
_VERDICT_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Verification:
    """A consumer's verification of a delivered file.

    Attributes:
        sha256: of the checked file, 64 hexadecimal digits; None if there was no file.
        records: its number of records; None if it could not be read.
        measured: the measured privacy by criterion.
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
            # An unread number of records is not another number.
            is_another = self.sha256 != handover.sha256 or self.records not in (None, handover.records)
            if self.sha256 is None and reason is None:
                yield Fault("/reason", "Say what is wrong, since no file was checked.")
            elif self.sha256 == handover.sha256 and self.size != handover.size:
                yield Fault("/size", f"The file with this SHA-256 has {handover.size} bytes.")
            elif not (self.cells_differing or reason is not None or is_another):
                yield Fault("", "Say what is wrong: give cells that differ, a reason, or another file.")
            return
        for name in ("sha256", "size", "records"):
            if getattr(self, name) != (delivered := getattr(handover, name)):
                yield Fault(f"/{name}", f"The delivered file has {delivered}.")
        if self.cells_differing:
            yield Fault("/cells_differing", "A table of which cells differ is disputed, not received.")
        yield from self._less_private(handover.reached)

    def seen_by(self, caller: Caller, request: DataRequest) -> Self:
        """The part that the caller may read: only readers of the counts see the differing ones."""
        return self if request.shows_counts_to(caller) else replace(self, differences=None)

    def _less_private(self, delivered: RequiredPrivacy) -> Iterator[Fault]:
        for name, limit in delivered.at_least.items():
            if self.measured.at_least.get(name, limit) < limit * (1 - _VERDICT_TOLERANCE):
                yield Fault(f"/privacy/{name}", f"Is below the delivered {limit:g}; dispute the delivery.")
        for name, limit in delivered.at_most.items():
            if self.measured.at_most.get(name, limit) > limit + _VERDICT_TOLERANCE * max(1.0, limit):
                yield Fault(f"/privacy/{name}", f"Is above the delivered {limit:g}; dispute the delivery.")
