"""Measures what a table tells with what left before, refuses what breaks the promise, and keeps what leaves."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import Partition
from aegis_provider.errors import PromiseError
from aegis_provider.ledger.attacks import attacks_on
from aegis_provider.ledger.composition import Composition, composed
from aegis_provider.ledger.holding import MOST_HELD_BACK, HeldBack, held_back
from aegis_provider.ledger.rows import Keys, rows_of
from aegis_provider.ledger.store import ANYONE, Event, Ledger, LedgerError, key_of, ledger_of, locked
from aegis_provider.plan.model import DROP, IDENTITY, Configuration, Plan
from aegis_provider.privacy import CRITERIA
from aegis_provider.state import lasting_randomness
from aegis_provider.table import Source, Table, open_table
from aegis_provider.table.notation import plainly
from aegis_sdk.reading import shown
from aegis_sdk.wire import strictest

ACCEPT: Final = "--accept-composition"
_TRIED: Final = 20
"""How many nested configurations are measured for one that keeps the promise."""
_NAMED: Final = 3


class CompositionError(PromiseError):
    """With what left before, a release would break its promise, and that is not accepted. The files are valid.

    Attributes:
        offered: The id of a configuration of the plan that keeps it; `None` if none was found.
    """

    def __init__(self, text: str, offered: str | None = None) -> None:
        super().__init__(text)
        self.offered = offered


@dataclass(frozen=True, kw_only=True)
class Leaving:
    """A masked table that is about to leave.

    Attributes:
        name: The name of the table, that of its entry.
        to: Who gets it.
        place: The folder or the request that it belongs to.
        digest: The SHA-256 of the file; of the one that an earlier run made, if any, before it is made.
        held: The digest of the records that the file holds back.
        accept: Whether to go on although it breaks the promise with what left before.
        colluding: Whether all consumers are taken for one.
        ranking: The ids of configurations, the most useful first, among which one is looked for that keeps the promise.
        planned_in: The folder of the release that made the plan: what left from there to no named consumer is not
            counted, since that release may have served to offer its configurations only.
        entry_only: Whether only its entry leaves, and the table itself is masked anew for each request.
        by_columns: Whether a table with the same columns is this one, whatever its name is.
    """

    name: str
    to: str = ANYONE
    place: str = ""
    digest: str = ""
    held: str = ""
    accept: bool = False
    colluding: bool = False
    ranking: Sequence[str] = ()
    planned_in: str = ""
    entry_only: bool = False
    by_columns: bool = False


def hold_back(
    table: Source, plan: Plan, configuration: str, leaving: Leaving, how: Mapping[str, Any]
) -> HeldBack | None:
    """Return which records a masked table must hold back beside what left before; `None` if there are none.

    Raises:
        AegisError: As `leave`.
    """
    return foretold(table, plan, configuration, leaving, how)[0]


def foretold(
    table: Source, plan: Plan, configuration: str, leaving: Leaving, how: Mapping[str, Any]
) -> tuple[HeldBack | None, list[str]]:
    """Return what `hold_back` and `leave` would, before anything leaves.

    Args:
        how: Options for reading the table: `delimiter` and `memory_limit`.

    Raises:
        AegisError: As `leave`.
    """
    if plan.generated_table(configuration) is not None:
        return None, []
    with open_table(table, **how) as given:
        own = _Own.of(plainly(given, plan.writings), plan, leaving)
        if not _alike(own, own.known):
            return None, []
        chosen = plan.configuration(configuration)
        rows = own.rows(chosen)
        with locked():
            held, said = _decided(own, own.ledger(), chosen, rows, how.get("memory_limit", "1GB"))
    return (held if held.number else None), said


def leave(table: Source, plan: Plan, configuration: str, leaving: Leaving, how: Mapping[str, Any]) -> list[str]:
    """Keep in the ledger that a masked table leaves; return what it tells with what left before, in sentences.

    The promise is the requirement of its configuration's search, or else what the plan states.

    Args:
        how: Options for reading the table: `delimiter` and `memory_limit`.

    Raises:
        CompositionError: With what left before it breaks the promise, and that is not accepted; or something else left
            since it was decided which records to hold back. Nothing is kept.
        LedgerError: The ledger is damaged or of another machine, or the table is not the one that left before.
        TableError: The table cannot be read.
        OutputError: The ledger cannot be written.
    """
    with open_table(table, **how) as given:
        opened = plainly(given, plan.writings)
        own = _Own.of(opened, plan, leaving)
        event = Event(
            what="masked table",
            to=leaving.to,
            place=leaving.place,
            digest=leaving.digest,
            configuration=configuration,
            person=plan.person,
        )
        if plan.generated_table(configuration) is not None:
            with locked():
                own.ledger().noting(replace(event, what="generated table"))
            return []
        chosen = plan.configuration(configuration)
        rows = own.rows(chosen)
        with locked():
            ledger = own.ledger()
            if ledger.keyed != own.known.keyed:
                raise LedgerError(f"{ledger.name}: another command has begun its ledger meanwhile; run this one again")
            held, said = _decided(own, ledger, chosen, rows, how.get("memory_limit", "1GB"))
            left_already = any(_same(event, each) for each in ledger.events)
            if held.digest != leaving.held and not left_already:
                raise CompositionError(
                    f"{ledger.name}: {chosen.id} holds back other records than what left before asks for: something "
                    "else left meanwhile; run this command again"
                )
            about: dict[str, Any] = {"maskings": dict(chosen.maskings), "promised": dict(chosen.promised)}
            event = replace(event, people=own.keys.people, **about)
            if not left_already:
                ledger.with_event(event, held.within(rows))
    return said


def note(table: Source, plan: Plan, name: str, event: Event, how: Mapping[str, Any], card: str = "") -> Ledger:
    """Keep in the ledger that something else than a masked table leaves; return the ledger. The same file adds nothing.

    Args:
        name: The name of the table, that of its entry.
        event: What leaves, with its digest.
        how: Options for reading the table.
        card: The head of the card that is published with it, or empty.

    Raises:
        LedgerError: The ledger is damaged or of another machine.
        OutputError: It cannot be written.
    """
    with open_table(table, **how) as opened:
        columns = dict.fromkeys(opened.columns, "")
    with locked():
        # Budgets of one table add up, whatever its entries are called.
        how = {"accept": True, "by_columns": event.epsilon > 0}
        return ledger_of(name, columns, sorted(plan.columns), **how).noting(event, card)


def _same(event: Event, earlier: Event) -> bool:
    return (event.digest, event.to) == (earlier.digest, earlier.to) and bool(event.digest and earlier.rows)


@dataclass(frozen=True, eq=False)
class _Own:
    """The table that leaves, as its ledger knows it."""

    opened: Table
    counted: CountedTable
    plan: Plan
    leaving: Leaving

    @classmethod
    def of(cls, opened: Table, plan: Plan, leaving: Leaving) -> "_Own":
        return cls(opened, CountedTable.of(opened, plan), plan, leaving)

    def ledger(self) -> Ledger:
        kinds = {each.attribute.name: str(each.domain.value_type) for each in self.counted.attributes}
        columns = {name: kinds.get(name, "") for name in self.opened.columns}
        how = {"accept": self.leaving.accept, "by_columns": self.leaving.by_columns}
        return ledger_of(self.leaving.name, columns, sorted(self.plan.columns), **how)

    @cached_property
    def known(self) -> Ledger:
        """The ledger as it was when its columns were first needed."""
        return self.ledger()

    @cached_property
    def keys(self) -> Keys:
        # As the table has the values: bins of another version may have other limits.
        readings = {name: self.opened.reading(name) for name in self.opened.columns}
        key = key_of(lasting_randomness())
        return Keys.of(self.counted.table.read_as(readings), self.plan.person, self.known.keyed, key)

    def rows(self, configuration: Configuration) -> pa.Table:
        return rows_of(self.counted, self.plan, configuration, self.keys)

    def nested(self, events: Sequence[Event]) -> Iterator[Configuration]:
        """Yield the configurations, the most useful first, each class of which is a union of classes that left."""
        by_id = {each.id: each for each in self.plan.configurations}
        for candidate in (by_id[name] for name in self.leaving.ranking or by_id if name in by_id):
            if any(self._is_nested(candidate.maskings, event.maskings) for event in events):
                yield candidate

    def _is_nested(self, coarse: Mapping[str, str], fine: Mapping[str, str]) -> bool:
        shared = {*self.plan.quasi_identifiers, *self.plan.sensitive} - {self.plan.label}
        pairs = [(self._groups[name].get(coarse[name]), self._groups[name].get(fine.get(name, ""))) for name in shared]
        return all(one is not None and other is not None and one.follows_from(other) for one, other in pairs)

    @cached_property
    def _groups(self) -> Mapping[str, Mapping[str, Partition]]:
        """The groups of the values of each attribute, by masking."""
        known = {}
        for each in self.counted.attributes:
            values = len(each.domain)
            masked = {masking: of.partition() for masking, of in self.counted.masked_domains(each).items()}
            dropped = Partition(np.zeros(values, dtype=np.intp), 1)
            known[each.attribute.name] = {IDENTITY: Partition.identity(values), DROP: dropped, **masked}
        return known


def _decided(
    own: _Own, ledger: Ledger, chosen: Configuration, rows: pa.Table, memory: str
) -> tuple[HeldBack, list[str]]:
    """Return the records that a release holds back, and what it then tells with what left before.

    Raises:
        CompositionError: It breaks the promise, or would hold back too many, and that is not accepted.
        LedgerError: What left before is known by another column.
    """
    leaving, of_people = own.leaving, own.plan.person is not None
    erased = [
        f"{event.in_words()}: {event.erased:,} of its records were erased here, so they are not measured with this"
        for event in ledger.events
        if event.erased and (leaving.colluding or ANYONE in {leaving.to, event.to} or leaving.to == event.to)
    ]
    groups = _alike(own, ledger)
    held = HeldBack.of(rows, np.zeros(len(rows), dtype=np.bool_), of_people=of_people)
    broken, said = _judged(own, ledger, groups, chosen, rows, memory)
    if broken and not leaving.accept:
        would = HeldBack.of(rows, _holding(own, ledger, groups, chosen, rows, memory), of_people=of_people)
        line, alike = broken[0]
        if would.share <= MOST_HELD_BACK:
            held = would
            broken, said = _judged(own, ledger, groups, chosen, held.within(rows), memory)
        if broken:
            raise _refusal(own, ledger, alike, chosen, line, would, memory)
    return held, [*erased, *filter(None, [held.in_words()]), *said]


def _alike(own: _Own, ledger: Ledger) -> list[list[Event]]:
    """Return what each consumer has who gets the table, and can be joined with it.

    Raises:
        LedgerError: What left before is known by another column, and that is not accepted.
    """
    groups = _before(ledger, own.leaving)
    for event in (event for events in groups for event in events):
        if event.person != own.plan.person and not own.leaving.accept:
            was, now = event.person, own.plan.person
            raise LedgerError(
                f"{ledger.name}: what left counts {_units(was)}, this counts {_units(now)}, so they cannot be joined: "
                f"count as before, or {ACCEPT}"
            )
    alike = [[event for event in events if event.person == own.plan.person] for events in groups]
    return [events for events in alike if events]


def _judged(
    own: _Own,
    ledger: Ledger,
    groups: Sequence[list[Event]],
    chosen: Configuration,
    rows: pa.Table,
    memory: str,
) -> tuple[list[tuple[str, list[Event]]], list[str]]:
    """Return with what a release breaks the promise, each in a sentence, and all that it tells with what left.

    Raises:
        LedgerError: Nobody is known from what left, as if people were written in another way, and that is not accepted.
    """
    broken, said = [], []
    for alike in groups:
        found, is_worse = _together(own, ledger, alike, chosen, rows, memory)
        if not (any(each.known for each in found.values()) or own.plan.person is None or own.leaving.accept):
            raise LedgerError(
                f"{ledger.name}: has nobody of {alike[-1].in_words()}: write {shown(own.plan.person)} as before, 7 "
                f"neither as 07 nor as 7.0; if these are other people, {ACCEPT}"
            )
        line = _in_words(alike, found, own.plan)
        if line and is_worse:
            broken.append((line, alike))
        said += [line] if line else []
    return broken, said


def _holding(
    own: _Own, ledger: Ledger, groups: Sequence[list[Event]], chosen: Configuration, rows: pa.Table, memory: str
) -> NDArray[np.bool_]:
    """(records,) Return which records to hold back so that no consumer's join breaks a promise."""
    how: dict[str, Any] = {"of_people": own.plan.person is not None, "memory_limit": memory}
    records = np.zeros(len(rows), dtype=np.bool_)
    attacks = [
        attack for alike in groups for attack in attacks_on([*map(ledger.rows, alike), rows], _promises(alike, chosen))
    ]
    while True:
        before = records.copy()
        for attack in attacks:
            *left, mine = attack.releases
            records |= held_back(left, HeldBack(records, 0).within(mine), attack.promises, **how)
        # What one consumer needs, or the attack on one label, can break another's join.
        if len(attacks) == 1 or (records == before).all():
            return records


def _refusal(
    own: _Own,
    ledger: Ledger,
    alike: Sequence[Event],
    chosen: Configuration,
    line: str,
    would: HeldBack,
    memory: str,
) -> CompositionError:
    promises = [chosen.promised, reduce(strictest, _promises(alike, chosen))]
    own_promise, whole = (
        " and ".join(f"{name} {CRITERIA[name].sign} {limit:g}" for name, limit in each.items()) for each in promises
    )
    promised = own_promise if whole == own_promise else f"{own_promise}, and what left {whole}"
    offered = next(_keeping(own, ledger, alike, memory), None)
    instead = "no other configuration keeps it" if offered is None else f"{offered.id} keeps it"
    share = f"{100 * would.share:.1f} % of its records would be held back, of at most {100 * MOST_HELD_BACK:g} %"
    named = {each.to for each in alike} - {ANYONE}
    only = "if not everybody gets it, --to says who; " if own.leaving.to == ANYONE and named else ""
    text = (
        f"{chosen.id} promises {promised}, but {line}; {share}. It does not leave: {instead}; "
        f"{only}{_tried(alike, own.leaving)}or {ACCEPT}"
    )
    return CompositionError(text, None if offered is None else offered.id)


def _promises(events: Sequence[Event], chosen: Configuration) -> list[dict[str, float]]:
    """Return what holds for the people of each of these releases, and of one by the chosen configuration."""
    mine = dict(chosen.promised)
    return [*(strictest(event.promised, mine) for event in events), mine]


def _tried(events: Sequence[Event], leaving: Leaving) -> str:
    """Return how to say that what was made in folders before, for nobody by name, was only tried."""
    before = [each for each in events if each.to == ANYONE or (each.place and each.place == leaving.place)]
    if not before:
        return ""
    numbers = "".join(f" --event {each.number}" for each in before)
    listed = " and ".join(dict.fromkeys(each.configuration for each in before))
    return f"if nobody got {listed}: aegis ledger forget {leaving.name}{numbers}; "


def _together(
    own: _Own,
    ledger: Ledger,
    events: Sequence[Event],
    chosen: Configuration,
    rows: pa.Table,
    memory: str,
) -> tuple[Mapping[str, Composition], bool]:
    """Measure a release with what left, in the attack on each label.

    Return also whether that breaks more of its promise than what left did.
    """
    how: dict[str, Any] = {"of_people": own.plan.person is not None, "memory_limit": memory}
    attacks = list(attacks_on([*map(ledger.rows, events), rows], _promises(events, chosen)))
    found = {each.label: composed(each.releases, each.promises, **how) for each in attacks}
    is_worse = any(
        found[each.label].broken and found[each.label].is_worse(composed(each.releases[:-1], each.promises[:-1], **how))
        for each in attacks
    )
    return found, is_worse


def _keeping(own: _Own, ledger: Ledger, events: Sequence[Event], memory: str) -> Iterator[Configuration]:
    """Yield nested configurations that keep their promise with what left, the most useful first."""
    for tried, candidate in enumerate(own.nested(events)):
        if tried == _TRIED:
            return
        rows, groups = own.rows(candidate), [[*events]]
        if _together(own, ledger, events, candidate, rows, memory)[1]:
            held = HeldBack.of(rows, _holding(own, ledger, groups, candidate, rows, memory), of_people=False)
            if held.share > MOST_HELD_BACK:
                continue
        yield candidate


def _before(ledger: Ledger, leaving: Leaving) -> list[list[Event]]:
    """Return what each consumer has who gets the table, beside the same file; what everyone may have, everyone has."""
    offered = (leaving.planned_in, ANYONE)
    events = [each for each in ledger.events if each.rows and (not each.place or (each.place, each.to) != offered)]
    events = [each for each in events if not leaving.digest or (each.digest, each.to) != (leaving.digest, leaving.to)]
    if leaving.colluding:
        return [events] if events else []
    named = {each.to for each in events} - {ANYONE}
    groups = ({leaving.to} if leaving.to != ANYONE else named) or {ANYONE}
    having = [[each for each in events if each.to in {group, ANYONE}] for group in sorted(groups)]
    return [each for each in having if each]


def _in_words(events: Sequence[Event], found: Mapping[str, Composition], plan: Plan) -> str:
    """Return what becomes known: `with c0071, delivered on 3 May 2026 to hospital-b: k = 2 for 28 people`.

    Args:
        found: What the attack on each label finds; of one, without its name.
    """
    several = [each.in_words(label, plan) for label, each in found.items() if each.broken or each.certain]
    if not several:
        return ""
    times = Counter(each.in_words() for each in reversed(events))
    listed = [f"{what}, {n} times" if n > 1 else what for what, n in list(times.items())[:_NAMED]]
    more = f", and {len(times) - _NAMED} more" if len(times) > _NAMED else ""
    return f"with {'; '.join(listed)}{more}: {'; '.join(several)}"


def _units(person: str | None) -> str:
    return "records" if person is None else f"people by {shown(person)}"
