"""What the ledger is asked and told by a release."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aegis_provider.files import digest_of
from aegis_provider.table import open_table
from aegis_provider.workflow.steps import ENTRY, MASKED, Steps

if TYPE_CHECKING:  # slow to load
    from aegis_provider.advice import EntryAdvice


def refuse_ledger(steps: Steps) -> None:
    """Refuse a ledger that cannot be used before minutes of work.

    Raises:
        LedgerError: It is damaged, of another machine, or of a table with other columns under this name.
    """
    from aegis_provider.ledger.store import ledger_of  # noqa: PLC0415 - as below

    if steps.leaving is not None:
        with open_table(steps.table, **steps.how) as opened:
            ledger_of(steps.name, dict.fromkeys(opened.columns, ""), (), accept=steps.leaving.accept)


def leave(steps: Steps, advice: EntryAdvice, *, keep: bool = True) -> tuple[str, ...]:
    """Keep in the ledger that the table masked by the best configuration leaves; return what it tells with others.

    Args:
        keep: Whether it leaves now; otherwise it is only measured.

    Raises:
        CompositionError: With what left before it breaks the promise.
        LedgerError: The ledger cannot be used.
    """
    from aegis_provider import ledger  # noqa: PLC0415 - slow to load, and not all releases leave

    if steps.leaving is None:
        return ()
    ranking = [each.id for each in advice.ranking]
    leaving = replace(steps.leaving, digest=digest_of(steps.folder.file(MASKED)), ranking=ranking)
    with steps.stage("measuring what it tells with what left before"):
        return tuple(ledger.leave(steps.table, steps.found, advice.best.id, leaving, steps.how, keep=keep))


def note_entry(steps: Steps) -> None:
    """Keep in the ledger that the entry was published."""
    from aegis_provider.ledger import Event, note  # noqa: PLC0415 - as above

    if steps.leaving is not None:
        event = Event(what="entry", entry=steps.name, digest=digest_of(steps.folder.file(ENTRY)))
        note(steps.table, steps.found, steps.name, event, steps.how)
