"""What the checks of a masked table find in its file."""

from collections.abc import Mapping
from dataclasses import dataclass

from aegis_provider.identifiers import (
    Replayed,
    accepted_beside,
    accepted_in_words,
    refuse_written,
    shared_as_they_are,
    texts_written,
)
from aegis_provider.plan.model import Configuration, Plan
from aegis_provider.release.alone import CountedAlone, alone_in
from aegis_provider.release.promise import Promise, Suppression
from aegis_provider.release.shown_values import ShownValues, shown_values
from aegis_provider.table import Table


@dataclass(frozen=True)
class Checked:
    """What was found in a masked table, as it was written.

    Attributes:
        reached: Its privacy; empty if none is promised.
        shown: How many values that are shared as they are few of its records show.
        alone: How many of its records are alone on all of its columns without the label.
        replayed: Which identifying values of the table were looked for in it, and not found, and which columns have
            some because that was accepted.
        accepted: The columns that have what identifies persons, because that was accepted, and what they have.
    """

    reached: Mapping[str, int | float]
    shown: ShownValues
    alone: CountedAlone
    replayed: str
    accepted: Mapping[str, str]

    @property
    def faults(self) -> tuple[str, ...]:
        """What has to be accepted where privacy is promised: names that tell rare values, and values below `k`."""
        names = (each.in_words() for each in self.shown.telling) if self.reached else ()
        return (*names, *filter(None, [self.shown.below_k_in_words]))

    @classmethod
    def of(
        cls,
        table: Table,
        written: Table,
        promise: Promise,
        suppression: Suppression | None,
        plan: Plan,
        reasons: Mapping[str, str],
        *,
        accept_identifiers: bool,
    ) -> "Checked":
        """Check a written table.

        Args:
            table: The table that was masked.
            written: The written table.
            promise: What it promises.
            suppression: What was suppressed in it, if anything.
            plan: The plan.
            reasons: How columns of the table that was masked identify persons.
            accept_identifiers: Whether it may have what identifies persons.

        Raises:
            OutputError: The table differs from what was written.
            TableError: A table cannot be read.
            IdentifierError: It has an identifying value, and that is not accepted.
        """
        chosen, counted = promise.configuration, promise.release.counted
        reached = promise.reached(written, suppression) if chosen.privacy else {}
        alone, shown = alone_in(written, plan.label), shown_values(written, counted, plan, chosen)
        searched = _searched(table, written, plan, chosen, reasons, accept_identifiers=accept_identifiers)
        return cls(reached, shown, alone, *searched)


def _searched(
    table: Table,
    written: Table,
    plan: Plan,
    chosen: Configuration,
    reasons: Mapping[str, str],
    *,
    accept_identifiers: bool,
) -> tuple[str, dict[str, str]]:
    """Look for identifying values in the file itself; say which were not found, and which columns have some.

    Raises:
        IdentifierError: It has one, and that is not accepted.
    """
    shared = shared_as_they_are(plan, [chosen])
    others = [name for name in table.columns if name not in shared]
    replayed = Replayed.of(table, others, plan.left_out, {name: reasons[name] for name in others if name in reasons})
    if not accept_identifiers:
        refuse_written(texts_written(written), replayed, plan.source)
        return replayed.in_words(), {}
    raw = {name: reasons[name] for name in shared if name in reasons}
    accepted = accepted_beside(texts_written(written), replayed, raw)
    parts = (replayed.in_words(set(accepted.values())), accepted_in_words(accepted))
    return "; ".join(filter(None, parts)), accepted
