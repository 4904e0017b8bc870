"""Values that a masked table shows as they are, and few records have: they may tell who is in it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import Counts, Tally, tally
from aegis_provider.counting.published_domain import LEAST
from aegis_provider.counting.telling_names import TellingNames, telling_names
from aegis_provider.plan.model import IDENTITY, Configuration, Plan
from aegis_provider.privacy.cells import STAR
from aegis_provider.table import Table
from aegis_provider.table.values import MISSING
from aegis_sdk.reading import shown


@dataclass(frozen=True)
class ShownValues:
    """How many values of columns that are shared as they are few records of a masked table show.

    Attributes:
        rare: By column, how many values fewer than 20 records show; columns without any are not there.
        below_k: Those of them that fewer records show than the `k` that is promised, of columns that are not sensitive.
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
    as_they_are = [each for each in plan.attributes if configuration.maskings[each.name] == IDENTITY]
    names = [*(each.name for each in as_they_are if each.discretization is None), plan.label]
    sizes = {name: _records(each) for name, each in zip(names, tally(written, names, plan.label), strict=True)}
    promised, sensitive = configuration.promised.get("k", 0), set(plan.sensitive)
    below = {name: each < promised for name, each in sizes.items() if name not in sensitive}
    telling = (each for each in telling_names(counted) if configuration.maskings[each.attribute] == each.masking)
    return ShownValues(_numbers({name: each < LEAST for name, each in sizes.items()}), _numbers(below), tuple(telling))


def _numbers(few: Mapping[str, NDArray[np.bool_]]) -> dict[str, int]:
    """Return how many values of each column few records have, without the columns that have none."""
    return {name: int(np.count_nonzero(each)) for name, each in few.items() if each.any()}


def _records(counted: Tally) -> Counts:
    """(values,) The records of each value that is neither missing nor suppressed."""
    told = np.isin(counted.texts, [MISSING, STAR], invert=True)
    _, places = np.unique(counted.texts[told].astype(str), return_inverse=True)
    return np.bincount(places, counted.counts[told]).astype(np.int64)
