"""Values that a masked table shows as they are, and few records have: they may tell who is in it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import Counts, Tally, tally
from aegis_provider.counting.published_domain import LEAST
from aegis_provider.counting.telling_names import TellingNames, telling_names
from aegis_provider.plan.model import IDENTITY, Configuration, Plan
from aegis_provider.privacy.cells import STAR
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
    whole = {each.attribute.name: each.domain for each in counted.attributes if each.attribute.discretization is None}
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
