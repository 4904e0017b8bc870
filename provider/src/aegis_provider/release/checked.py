"""What the checks of a masked table find in its file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import Counts, Tally, tally
from aegis_provider.counting.published_domain import LEAST
from aegis_provider.counting.telling_names import TellingNames, telling_names
from aegis_provider.identifiers import (
    Replayed,
    accepted_beside,
    accepted_in_words,
    refuse_written,
    shared_as_they_are,
    texts_written,
)
from aegis_provider.plan.model import IDENTITY, Configuration, Plan
from aegis_provider.privacy.cells import STAR
from aegis_provider.release.alone import CountedAlone, alone_in
from aegis_provider.release.promise import Promise, Suppression
from aegis_provider.table import Table
from aegis_provider.table.values import MISSING, Domain
from aegis_sdk.reading import shown


@dataclass(frozen=True)
class ShownValues:
    """How many values few records of a masked table show as they are, since no masking merges them with others.

    Attributes:
        rare: By column, how many values fewer than 20 records show; columns without any are not there.
        below_k: Those that fewer records show than the `k` that is promised, of columns that are neither sensitive nor
            quasi-identifiers, whose classes `k` counts.
        telling: The names of masked values that tell raw values of few records of the table.
    """

    rare: Mapping[str, int]
    below_k: Mapping[str, int]
    telling: tuple[TellingNames, ...] = ()

    def in_words(self) -> Iterator[str]:
        """Say how many values of which columns few records show, and which names tell such values."""
        yield from (each.in_words() for each in self.telling)
        yield from self.values_in_words()

    def values_in_words(self) -> Iterator[str]:
        """Say how many values of which columns few records show."""
        if self.rare:
            listed = ", ".join(f"{shown(name)} {number:,}" for name, number in self.rare.items())
            yield f"values shared as they are that fewer than {LEAST} records show: {listed}"
        if self.below_k:
            yield self.below_k_in_words

    @property
    def below_k_in_words(self) -> str:
        """Say which columns show values of fewer records than the promised k; empty if none does."""
        if not self.below_k:
            return ""
        return (
            f"{', '.join(map(shown, self.below_k))}: shared as it is, with values of fewer records than the k that is "
            "promised, for which only quasi-identifiers count; name it under quasi_identifiers, or mask it"
        )


def shown_values(written: Table, counted: CountedTable, plan: Plan, configuration: Configuration) -> ShownValues:
    """Count the values that the written table of a configuration shows as they are.

    Args:
        written: The written table.
        counted: The table that was masked.
        plan: The plan.
        configuration: The configuration.

    Raises:
        TableError: The table cannot be read.
    """
    whole = {
        attribute.attribute.name: attribute.domain
        for attribute in counted.attributes
        if attribute.attribute.discretization is None
    }
    names = [*(name for name in whole if name in written.columns), plan.label]
    known = {name: None if configuration.maskings.get(name, IDENTITY) == IDENTITY else whole[name] for name in names}
    tallies = dict(zip(names, tally(written, names, plan.label), strict=True))
    sizes = {name: _records(each, known[name]) for name, each in tallies.items()}
    promised, judged = configuration.promised.get("k", 0), {*plan.sensitive, *plan.quasi_identifiers, plan.label}
    below = {name: each < promised for name, each in sizes.items() if name not in judged}
    telling = tuple(each for one in telling_names(counted, configuration.maskings) for each in _written(one, tallies))
    return ShownValues(_numbers({name: each < LEAST for name, each in sizes.items()}), _numbers(below), telling)


def _written(telling: TellingNames, tallies: Mapping[str, Tally]) -> Iterator[TellingNames]:
    """Yield what is left of these names if records with some are left out; nothing if none is written."""
    names = tuple(sorted({*telling.names} & {*tallies[telling.attribute].texts}))
    if names:
        yield replace(telling, names=names)


def _numbers(few: Mapping[str, NDArray[np.bool_]]) -> dict[str, int]:
    """Return how many values of each column few records have, without the columns that have none."""
    return {name: int(np.count_nonzero(each)) for name, each in few.items() if each.any()}


def _records(counted: Tally, domain: Domain | None) -> Counts:
    """(values,) The records of each value that is shown as it is: of all, or of those of this domain."""
    told = np.isin(counted.texts, [MISSING, STAR], invert=True)
    if domain is not None:
        told &= np.fromiter((text in domain.places for text in counted.texts), dtype=bool, count=len(counted.texts))
    _, places = np.unique(counted.texts[told].astype(str), return_inverse=True)
    return np.bincount(places, counted.counts[told]).astype(np.int64)


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
