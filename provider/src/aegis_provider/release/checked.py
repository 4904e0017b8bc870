"""Checks of a written masked table."""

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
    """Numbers of unmasked values in few records of a masked table, where no masking merges them with others.

    Attributes:
        rare: By column, the number of values in fewer than 20 records, if any.
        below_k: The same for values in fewer records than the promised `k`, which covers only classes of
            quasi-identifiers; sensitive columns and quasi-identifiers are excluded.
        telling: Names of masked values that disclose raw values of few records of the table.
    """

    rare: Mapping[str, int]
    below_k: Mapping[str, int]
    telling: tuple[TellingNames, ...] = ()

    def in_words(self) -> Iterator[str]:
        """Yield the columns with rare values, and the names that disclose such values."""
        yield from (names.in_words() for names in self.telling)
        yield from self.values_in_words()

    def values_in_words(self) -> Iterator[str]:
        """Yield the columns with rare values, with their numbers."""
        if self.rare:
            listed = ", ".join(f"{shown(name)} {number:,}" for name, number in self.rare.items())
            yield f"values shared as they are that fewer than {LEAST} records show: {listed}"
        if self.below_k:
            yield self.below_k_in_words

    @property
    def below_k_in_words(self) -> str:
        """The columns with values of fewer records than the promised k; empty if none."""
        if not self.below_k:
            return ""
        return (
            f"{', '.join(map(shown, self.below_k))}: shared as it is, with values of fewer records than the k that is "
            "promised, for which only quasi-identifiers count; name it under quasi_identifiers, or mask it"
        )


def shown_values(written: Table, counted: CountedTable, plan: Plan, configuration: Configuration) -> ShownValues:
    """Count the unmasked values in the written table of a configuration, made from the `counted` one.

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
    """Yield the names that are still in the written table, if any."""
    names = tuple(sorted({*telling.names} & {*tallies[telling.attribute].texts}))
    if names:
        yield replace(telling, names=names)


def _numbers(few: Mapping[str, NDArray[np.bool_]]) -> dict[str, int]:
    """Return the number of rare values of each column that has some."""
    return {name: int(np.count_nonzero(each)) for name, each in few.items() if each.any()}


def _records(counted: Tally, domain: Domain | None) -> Counts:
    """(values,) The records of each unmasked value, of all or only of this domain."""
    told = np.isin(counted.texts, [MISSING, STAR], invert=True)
    if domain is not None:
        told &= np.fromiter((text in domain.places for text in counted.texts), dtype=bool, count=len(counted.texts))
    _, places = np.unique(counted.texts[told].astype(str), return_inverse=True)
    return np.bincount(places, counted.counts[told]).astype(np.int64)


@dataclass(frozen=True)
class Checked:
    """The results of checking a written masked table.

    Attributes:
        reached: Its privacy; empty if none is promised.
        shown: The unmasked values that few of its records have.
        alone: The records that are alone on all of its columns without the label.
        replayed: The kinds of identifying values of the table that were searched for without a match, and the columns
            where they were accepted.
        accepted: The columns with accepted identifying values, and the kinds of these.
    """

    reached: Mapping[str, int | float]
    shown: ShownValues
    alone: CountedAlone
    replayed: str
    accepted: Mapping[str, str]

    @property
    def faults(self) -> tuple[str, ...]:
        """Faults to accept where privacy is promised: names that disclose rare values, and values below `k`."""
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
            table: The original table.
            written: The written table.
            promise: The promise of its configuration.
            suppression: What was suppressed in it, if anything.
            plan: The plan.
            reasons: Why columns of the original table identify persons.
            accept_identifiers: Whether it may contain identifying values.

        Raises:
            OutputError: The table differs from what was written.
            TableError: A table cannot be read.
            IdentifierError: It contains an identifying value, and that is not accepted.
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
    """Search the file itself for identifying values; return the kinds without a match, and the columns with some.

    Raises:
        IdentifierError: It contains one, and that is not accepted.
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
