"""Handles a provider's data requests unattended: approves by the rules of a YAML file, fulfils, backs off, and repeats.

Any number of agents may run with the same rules, on any number of machines. The lease of a request lets one of them
fulfil it; if that one dies, another takes over.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from math import inf
from pathlib import Path
from time import monotonic
from typing import Final, Literal

from aegis_provider.errors import InUseError, OutputError
from aegis_provider.handover.fulfilling import Task, ask_ledger, fulfil
from aegis_provider.handover.leasing import LEASED, SECONDS, abandon, work_folder
from aegis_provider.handover.lineage import Lineage
from aegis_provider.handover.storage import Storage, pause, relink, storage_at
from aegis_provider.ledger import CompositionError
from aegis_provider.plan.model import Plan
from aegis_provider.plan.reading import load_plan
from aegis_provider.privacy import holds
from aegis_provider.processes import Stage, unseen
from aegis_provider.table import delimiter_in
from aegis_provider.workflow.folder import released_as
from aegis_provider.yaml_file import Element, parsed
from aegis_sdk import AegisError, Client, ConflictError, NotFoundError
from aegis_sdk.cli.terminal import InputError
from aegis_sdk.reading import promises_of
from aegis_sdk.wire import PRIVACY_CRITERIA, DataRequestHead, GrantLimit

ANY: Final = "any"
NOT_COMPOSED: Final = "not_composed"
_CHOICES: Final = ("escape_formulas", "accept_unique", "accept_identifiers", "accept_composition", "colluding")
_DAYS: Final = {"daily": 1, "weekly": 7, "monthly": 30}


@dataclass(frozen=True)
class Rule:
    """Which requests may be approved.

    Attributes:
        tenants: The permitted tenants; `None` for all.
        purposes: Texts of which the purpose must contain one, ignoring case; empty permits any purpose.
        per_month: Maximum number of grants per tenant in 30 days; `None` for no limit.
    """

    tenants: frozenset[str] | None
    purposes: tuple[str, ...]
    require: Mapping[str, float]
    per_month: int | None

    def fits(self, request: DataRequestHead, vouched: Mapping[str, float]) -> bool:
        """Return whether the rule permits a request, apart from the limit per tenant."""
        purpose = request.purpose.casefold()
        return (
            (self.tenants is None or request.consumer in self.tenants)
            and (not self.purposes or any(each.casefold() in purpose for each in self.purposes))
            and all(name in vouched and holds(name, vouched[name], limit) for name, limit in self.require.items())
        )


@dataclass(frozen=True)
class PlannedTable:
    """The table and options for requests for an entry.

    Attributes:
        table: The table: a path, a glob or a URL.
        delimiter: The stated delimiter of CSV files; by default, the one in the header.
        accept_unique: Whether to deliver even if more than 1 % of the records are alone on all shared columns.
        accept_identifiers: Whether masked tables may contain identifying values.
        accept_composition: Whether to deliver even if the promise is broken together with what the consumer has.
        colluding: Whether consumers are taken to share what each of them has.
        refreshed: How often the release with the plan is repeated; `None` for never.
    """

    table: str
    plan: Plan
    delimiter: str | None
    ending: Literal[".csv", ".parquet"]
    escape_formulas: bool = False
    accept_unique: bool = False
    accept_identifiers: bool = False
    accept_composition: bool = False
    colluding: bool = False
    refreshed: timedelta | None = None

    @property
    def release(self) -> Path:
        """The folder of the release with the plan."""
        return self.plan.files[0].parent


@dataclass(frozen=True)
class Policy:
    """The rules of an agent.

    Attributes:
        rules: The rules of approval; the first that fits applies.
        lineage: Where the lineage of deliveries goes; `None` for nowhere.
    """

    storage: Storage
    tables: Mapping[str, PlannedTable]
    rules: tuple[Rule, ...]
    lineage: Lineage | None = None


def load_policy(path: Path) -> Policy:
    """Read a policy file, and the plans that it names. Paths are relative to its folder.

    Raises:
        PlanError: The file or a plan is invalid; the text names the place.
        InputError: The storage cannot be used.
    """
    root = Element(path.name, "", parsed(path), path.parent)
    fields = root.fields("to", "entries", optional=("link", "approve", "lineage"))
    tables = {name: _planned_table(name, each) for name, each in fields["entries"].items()}
    if not tables:
        fields["entries"].fail("name at least one entry, with its table and its plan")
    rules = tuple(_rule(element) for element in fields["approve"].elements()) if "approve" in fields else ()
    return Policy(_storage(fields), tables, rules, _lineage(fields["lineage"]) if "lineage" in fields else None)


def _lineage(element: Element) -> Lineage:
    place = element.text()
    try:
        return Lineage.at(place if "://" in place else str(element.file()))
    except InputError as error:
        element.fail(str(error).removeprefix("--lineage: "))


def _storage(fields: Mapping[str, Element]) -> Storage:
    place = fields["to"].text()
    where = place if "://" in place else str(fields["to"].file())
    try:
        return storage_at(where, fields["link"].text() if "link" in fields else None)
    except InputError as error:
        raise InputError(str(error).replace("with --link", "by `link`").replace("--link is", "`link` is")) from None


def _planned_table(name: str, element: Element) -> PlannedTable:
    fields = element.fields("table", "plan", optional=("delimiter", "format", "refresh", *_CHOICES))
    table = fields["table"].text()
    ending = fields["format"].one_of("csv", "parquet") if "format" in fields else "csv"
    every = fields["refresh"].one_of(*_DAYS) if "refresh" in fields else None
    if every is not None and released_as(plan := fields["plan"].file()) != name:
        element.fail(f"{plan} is not configurations.yaml of a release named {name}, so there is nothing to refresh")
    return PlannedTable(
        table if "://" in table else str(fields["table"].file()),
        load_plan(fields["plan"].file()),
        fields["delimiter"].character() if "delimiter" in fields else None,
        ".parquet" if ending == "parquet" else ".csv",
        **{name: name in fields and fields[name].one_of("true", "false") == "true" for name in _CHOICES},
        refreshed=None if every is None else timedelta(days=_DAYS[every]),
    )


def _rule(element: Element) -> Rule:
    """Read a rule. It must state the tenants and the required privacy."""
    fields = element.fields("tenants", "require", optional=("purpose", "per_month"))
    tenants = (
        None if fields["tenants"].value == ANY else frozenset(each.name() for each in fields["tenants"].elements())
    )
    purposes = tuple(each.name() for each in fields["purpose"].elements()) if "purpose" in fields else ()
    if not isinstance(fields["require"].value, dict):
        fields["require"].fail("state the required privacy, {k: 10}, or {} for none")
    required = fields["require"].fields(optional=tuple(PRIVACY_CRITERIA))
    return Rule(
        tenants,
        purposes,
        {name: float(each.positive()) for name, each in required.items()},
        fields["per_month"].integer(at_least=0) if "per_month" in fields else None,
    )


MONTH: Final = 30
"""Days."""

_REASON: Final = "approved by the rules of the provider's agent"


def approve(
    service: Client, policy: Policy, ask: Callable[[DataRequestHead], str | None] = lambda _: None
) -> Iterator[tuple[DataRequestHead, str | None]]:
    """Approve the requests that a rule allows, oldest first. A person decides on all others.

    The service counts what a tenant was granted, so several agents together do not exceed the limit of a rule.

    Args:
        ask: Returns why a request that a rule allows cannot be delivered; `None` if it can.

    Yields:
        Each of these requests, and why it is left to a person, if that is worth saying; `None` if it was approved.

    Raises:
        AegisError: The service does not respond, or does not let the caller approve.
    """
    # A plan may exist for the current version of an entry only, so stale requests are left.
    advised = service.requests.list("advised", side="provider")
    waiting = [request for request in advised if request.entry.name in policy.tables and not request.stale]

    schema_of = cache(lambda entry_id, version: service.entry(entry_id, version).entry_schema)
    for request in reversed(waiting):
        columns = promises_of(schema_of(request.entry.id, request.entry.version), [request.configuration or ""])
        vouched = {name: number for name, (number,) in columns.items() if number is not None}
        rule = next((rule for rule in policy.rules if rule.fits(request, vouched)), None)
        if rule is None:
            continue
        if (why := ask(request)) is not None:
            yield request, why
            continue
        try:
            limit = None if rule.per_month is None else GrantLimit(requests=rule.per_month, days=MONTH)
            yield service.requests.approve(request.id, _REASON, limit), None
        except ConflictError as error:  # otherwise its tenant has reached the limit, or somebody else was faster
            is_policy = error.code == NOT_COMPOSED
            yield request, _forbidden("the service's policy", request, error.allowed) if is_policy else ""


def _forbidden(who: str, request: DataRequestHead, allowed: str | None) -> str:
    """Return why a request is left to a person, without a number: this is for a log."""
    instead = f"; {allowed} keeps it" if allowed else ""
    return f"{who} forbids {request.configuration} beside what {request.consumer} has of the table{instead}"


_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

SHORTEST_PAUSE: Final = 5.0

RELINKING: Final = 3600.0
"""Seconds between searches for expiring links."""
_SOON: Final = timedelta(days=1)


@dataclass(frozen=True)
class Event:
    """A success or a failure of an agent.

    Attributes:
        request: The request; `None` if a release was repeated, or the service does not respond.
        detail: The configuration, the entry that was repeated, or the reason of the failure, or for leaving a request
            to a person, which is said once.
        retry_in: Seconds until the next try; 0 without a failure.
    """

    kind: Literal["refreshed", "approved", "delivered", "relinked", "waiting", "failed"]
    request: DataRequestHead | None
    detail: str
    retry_in: float = 0.0


@dataclass
class _Failures:
    """The number of consecutive failures of a request or an entry, and the time of the next try."""

    number: int = 0
    not_before: float = -inf


@dataclass
class Agent:
    """Approves and fulfils data requests by the rules of its policy.

    Attributes:
        work: A directory for unfinished work. Agents on one machine may share it.
        lease_seconds: Time after the death of this agent until another takes over.
    """

    service: Client
    policy: Policy
    work: Path
    lease_seconds: int = SECONDS
    stage: Stage = unseen
    clock: Callable[[], float] = monotonic
    _failures: dict[str, _Failures] = field(default_factory=dict)
    _silent: int = 0
    _look_at_links: float = 0.0
    _elsewhere: set[str] = field(default_factory=set)
    _waiting: dict[str, str] = field(default_factory=dict)

    def round(self) -> Iterator[Event]:
        """Approve and fulfil all requests that are due, and yield the events. A failure affects only its request."""
        try:
            yield from self._refreshed()
            for request, why in approve(self.service, self.policy, self._refusal):
                if why is not None:
                    yield from self._left(request, why)
                    continue
                self._failures.pop(request.id, None)
                yield Event("approved", request, request.configuration or "")
            for request in reversed([*self.service.requests.list("approved", side="provider")]):
                if request.entry.name in self.policy.tables and self._is_due(request):
                    yield from self._fulfilled(request)
            self._tidy()
            yield from self._relinked()
            self._silent = 0
        except AegisError as error:
            self._silent += 1
            yield Event("failed", None, str(error), self.rest)

    def _is_due(self, request: DataRequestHead) -> bool:
        return self._failures.get(request.id, _Failures()).not_before <= self.clock()

    def _refusal(self, request: DataRequestHead) -> str | None:
        """Return why the table of a request will not be delivered, as its fulfilment would say; `None` if it will."""
        if not self._is_due(request):
            return self._waiting[request.id]
        try:
            ask_ledger(self._task(request))
        except CompositionError as error:
            return _forbidden("the ledger", request, error.offered)
        except AegisError as error:
            return str(error)
        return None

    def _left(self, request: DataRequestHead, why: str) -> Iterator[Event]:
        """Ask again later for a request that is left to a person; yield once why, if that is to be said."""
        if self._is_due(request):
            self._failed(request.id, request, why)
        if self._waiting.get(request.id, "") != why:
            yield Event("waiting", request, why)
        self._waiting[request.id] = why

    def _refreshed(self) -> Iterator[Event]:
        """Repeat the releases that are due, and publish them as new versions, for which requests can then be made."""
        from aegis_provider.workflow.refreshing import is_older, refresh  # noqa: PLC0415 - slow to load

        for name, planned in self.policy.tables.items():
            waits = self._failures.get(name, _Failures()).not_before > self.clock()
            if planned.refreshed is None or waits or not is_older(planned.release, planned.refreshed):
                continue
            try:
                refresh(
                    planned.release,
                    planned.table,
                    publish=self.service,
                    accept_unique=planned.accept_unique,
                    accept_identifiers=planned.accept_identifiers,
                    leaves=False,
                    stage=self.stage,
                )
                again = replace(planned, plan=load_plan(planned.plan.files[0]))
            except InUseError:
                continue
            except AegisError as error:
                yield self._failed(name, None, error)
            else:
                self._failures.pop(name, None)
                self.policy = replace(self.policy, tables={**self.policy.tables, name: again})
                yield Event("refreshed", None, name)

    def _relinked(self) -> Iterator[Event]:
        """Renew, once an hour, the links of deliveries that expire within a day."""
        if self.clock() < self._look_at_links:
            return
        self._look_at_links = self.clock() + RELINKING
        for request in self.service.requests.list("delivered", side="provider"):
            if request.entry.name not in self.policy.tables or request.id in self._elsewhere:
                continue
            try:
                delivery = self.service.requests.get(request.id).delivery
                ends = None if delivery is None else delivery.expires_at
                if ends is None or ends >= datetime.now(UTC) + _SOON:
                    continue
                relink(self.service, request.id, self.policy.storage)
            except AegisError as error:
                if isinstance(error, OutputError):  # delivered by hand, from another storage
                    self._elsewhere.add(request.id)
                yield Event("failed", request, str(error), RELINKING)
            else:
                yield Event("relinked", request, request.configuration or "")

    def _tidy(self) -> None:
        """Remove the work for requests that can no longer be fulfilled, such as withdrawn ones."""
        for path in self.work.iterdir() if self.work.is_dir() else ():
            # Leave files of others, and work in progress.
            if _ID.fullmatch(path.name) and path.is_dir():
                with suppress(InUseError, NotFoundError, OutputError):
                    request = self.service.requests.get(path.name)
                    if request.state != "approved":
                        with work_folder(self.work, request.id) as folder:
                            abandon(folder, request, self.policy.storage)

    @property
    def rest(self) -> float:
        """The seconds until the next round, growing while the service does not respond."""
        return pause(self._silent, SHORTEST_PAUSE)

    def _task(self, request: DataRequestHead) -> Task:
        planned = self.policy.tables[request.entry.name]
        return Task(
            self.service,
            request.id,
            planned.table,
            planned.plan,
            delimiter=planned.delimiter or delimiter_in(planned.table, planned.plan.label),
            ending=planned.ending,
            escape_formulas=planned.escape_formulas,
            accept_unique=planned.accept_unique,
            lease_seconds=self.lease_seconds,
            accept_identifiers=planned.accept_identifiers,
            accept_composition=planned.accept_composition,
            colluding=planned.colluding,
            lineage=self.policy.lineage,
            stage=self.stage,
        )

    def _fulfilled(self, request: DataRequestHead) -> Iterator[Event]:
        try:
            done = fulfil(self._task(request), self.policy.storage, self.work)
        except InUseError:
            return  # another agent is at work
        except ConflictError as error:
            if error.code != LEASED:
                yield self._failed(request.id, request, error)
        except CompositionError as error:
            yield from self._left(request, _forbidden("the ledger", request, error.offered))
        except AegisError as error:
            yield self._failed(request.id, request, error)
        else:
            self._failures.pop(request.id, None)
            yield Event(
                "delivered",
                request,
                "; ".join(filter(None, [request.configuration, *done.masked.told, done.warning])),
            )

    def _failed(self, name: str, request: DataRequestHead | None, error: AegisError | str) -> Event:
        failures = self._failures.setdefault(name, _Failures())
        failures.number += 1
        wait = pause(failures.number, SHORTEST_PAUSE)
        failures.not_before = self.clock() + wait
        return Event("failed", request, str(error), wait)
