"""What the ledger is asked and told by a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aegis_provider.files import digest_of
from aegis_provider.plan.model import Configuration
from aegis_provider.privacy import CRITERIA
from aegis_provider.table import open_table
from aegis_provider.workflow.steps import ENTRY, MASKED, Steps

if TYPE_CHECKING:  # slow to load
    from aegis_provider.advice import EntryAdvice
    from aegis_provider.ledger import HeldBack
    from aegis_sdk.wire import EntryDocument


def refuse_ledger(steps: Steps) -> None:
    """Refuse a ledger that cannot be used before minutes of work.

    Raises:
        LedgerError: It is damaged, of another machine, or of a table with other columns under this name.
    """
    from aegis_provider.ledger.store import ledger_of  # noqa: PLC0415 - as below

    if steps.leaving is not None:
        with open_table(steps.table, **steps.how) as opened:
            ledger_of(steps.name, dict.fromkeys(opened.columns, ""), (), accept=steps.leaving.accept)


def held_back(steps: Steps, advice: EntryAdvice, *, made_alike: bool) -> HeldBack | None:
    """Return which records the table masked by the best configuration holds back, as decided once in a run.

    Args:
        made_alike: Whether the masked table in the folder was made from the same table by the same configuration.

    Raises:
        CompositionError: They would be too many.
        LedgerError: The ledger cannot be used.
    """
    from aegis_provider import ledger  # noqa: PLC0415 - slow to load, and not all releases leave

    if steps.leaving is None or steps.leaving.entry_only:
        return None
    if advice.best.id not in steps.held:
        made = steps.folder.file(MASKED)
        digest = digest_of(made) if made.exists() and made_alike else ""  # it may have left already
        leaving = replace(steps.leaving, digest=digest, ranking=[each.id for each in advice.ranking])
        with steps.stage("measuring what it tells with what left before"):
            held = ledger.hold_back(steps.table, steps.found, advice.best.id, leaving, steps.how)
        steps.held[advice.best.id] = held
    return steps.held[advice.best.id]


def as_reached(
    entry: EntryDocument,
    configuration: Configuration,
    reached: Mapping[str, float],
    by_label: Mapping[str, Mapping[str, float]],
    sensitive: tuple[str, ...],
) -> EntryDocument:
    """Return the entry with no stronger privacy of a configuration than its masked table has.

    Without the records that are held back, that may be weaker than what was measured in the whole table.

    Args:
        reached: The privacy of the masked table, by criterion.
        by_label: The same in the attack on each of several labels.
    """
    from aegis_provider.control import coarse_privacy  # noqa: PLC0415 - slow to load

    own = next(each for each in entry.masked if each.id == configuration.id)
    coarse = coarse_privacy(reached, configuration.promised, entry, own, sensitive)
    weaker = {name: min if CRITERIA[name].at_least else max for name in coarse}
    privacy = {name: weaker[name](limit, coarse[name]) for name, limit in (own.privacy or {}).items() if name in coarse}
    changes: dict[str, Any] = {"privacy": privacy}
    if own.privacy_by_label:
        changes["privacy_by_label"] = {
            label: {name: min(limit, by_label[label][name]) for name, limit in each.items() if name in by_label[label]}
            for label, each in own.privacy_by_label.items()
        }
    changed = own.model_copy(update=changes)
    listed = [changed if each is own else each for each in entry.configurations or ()]
    return entry.model_copy(update={"configurations": listed})


def leave(steps: Steps, advice: EntryAdvice) -> tuple[str, ...]:
    """Keep in the ledger that the table masked by the best configuration leaves; return what it tells with others.

    Raises:
        CompositionError: With what left before it breaks the promise.
        LedgerError: The ledger cannot be used.
    """
    from aegis_provider import ledger  # noqa: PLC0415 - slow to load, and not all releases leave

    if steps.leaving is None or steps.leaving.entry_only:
        return ()
    ranking = [each.id for each in advice.ranking]
    held, digest = steps.held.get(advice.best.id), digest_of(steps.folder.file(MASKED))
    leaving = replace(steps.leaving, digest=digest, ranking=ranking, held="" if held is None else held.digest)
    with steps.stage("keeping what leaves in the ledger"):
        told = tuple(ledger.leave(steps.table, steps.found, advice.best.id, leaving, steps.how))
    about: dict[str, Any] = {"what": "generated table", "to": leaving.to, "place": leaving.place}
    for each in steps.found.generated:
        if each.file.parent == steps.folder.path:
            event = ledger.Event(**about, configuration=each.id, digest=digest_of(each.file))
            ledger.note(steps.table, steps.found, steps.name, event, steps.how)
    return told


def told_by_entry(steps: Steps, entry: EntryDocument) -> tuple[str, ...]:
    """Return what the entry tells with those that left before.

    Raises:
        CompositionError: It counts an attribute in too many other cuts, and that is not accepted.
        LedgerError: The ledger cannot be used.
    """
    from aegis_provider.ledger.entries import told  # noqa: PLC0415 - as above
    from aegis_provider.ledger.store import ledger_of  # noqa: PLC0415 - as above

    if steps.leaving is None:
        return ()
    with open_table(steps.table, **steps.how) as opened:
        columns = dict.fromkeys(opened.columns, "")
    ledger = ledger_of(steps.name, columns, (), accept=steps.leaving.accept)
    return tuple(told(ledger, _cuts(steps, entry), accept=steps.leaving.accept))


def note_entry(steps: Steps, entry: EntryDocument, version: int, card: str = "") -> None:
    """Keep in the ledger that the entry was published, or the head of its card."""
    from aegis_provider.ledger import Event, note  # noqa: PLC0415 - as above

    if steps.leaving is not None:
        digest, cuts = digest_of(steps.folder.file(ENTRY)), _cuts(steps, entry)
        event = Event(what="entry", entry=steps.name, version=version, digest=digest, cuts=cuts)
        note(steps.table, steps.found, steps.name, event, steps.how, card)


def _cuts(steps: Steps, entry: EntryDocument) -> dict[str, str]:
    from aegis_provider.ledger.entries import cuts_of  # noqa: PLC0415 - as above

    return cuts_of(entry, digest_of(steps.folder.file(ENTRY)) if steps.new_randomness else "")
