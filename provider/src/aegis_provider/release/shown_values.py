"""The values that a masked table shows, and how many records or people each has."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import LEAST, CountedTable
from aegis_provider.counting.counts import Counts, Tally, tally
from aegis_provider.counting.telling_names import TellingNames, telling_names
from aegis_provider.plan.model import IDENTITY, Configuration, Plan
from aegis_provider.privacy.cells import STAR
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
        of_people: Whether people are counted, not records.
    """

    rare: Mapping[str, int]
    below_k: Mapping[str, int]
    telling: tuple[TellingNames, ...] = ()
    of_people: bool = False

    def in_words(self) -> Iterator[str]:
        """Yield the columns with rare values, and the names that disclose such values."""
        yield from (names.in_words() for names in self.telling)
        yield from self.values_in_words()

    def values_in_words(self) -> Iterator[str]:
        """Yield the columns with rare values, with their numbers."""
        if self.rare:
            listed = ", ".join(f"{shown(name)} {number:,}" for name, number in self.rare.items())
            few = f"{LEAST} people have" if self.of_people else f"{LEAST} records show"
            yield f"values shared as they are that fewer than {few}: {listed}"
        if self.below_k:
            yield self.below_k_in_words

    @property
    def below_k_in_words(self) -> str:
        """The columns with values of fewer records than the promised k; empty if none."""
        if not self.below_k:
            return ""
        return (
            f"{', '.join(map(shown, self.below_k))}: shared as it is, with values of fewer "
            f"{'people' if self.of_people else 'records'} than the k that is promised, for which only "
            "quasi-identifiers count; name it under quasi_identifiers, or mask it"
        )


def shown_values(
    written: Table, counted: CountedTable, plan: Plan, configuration: Configuration, person: str | None = None
) -> ShownValues:
    """Count the unmasked values in the written table of a configuration, made from the `counted` one.

    Args:
        person: The column of `written` that says whose a record is, if people are counted.

    Raises:
        TableError: The table cannot be read.
    """
    whole = {
        attribute.attribute.name: attribute.domain
        for attribute in counted.attributes
        if attribute.attribute.discretization is None
    }
    names = [*(name for name in whole if name in written.columns), plan.label]
    whole[plan.label] = counted.label
    known = {name: None if configuration.maskings.get(name, IDENTITY) == IDENTITY else whole[name] for name in names}
    tallies = dict(zip(names, tally(written, names, plan.label), strict=True))
    sizes = {name: _records(each, known[name]) for name, each in tallies.items()}
    if person is not None:
        sizes = {name: _people(written.people_of_values(name, person), known[name]) for name in names}
    promised, judged = configuration.promised.get("k", 0), {*plan.sensitive, *plan.quasi_identifiers, plan.label}
    below = {name: each < promised for name, each in sizes.items() if name not in judged}
    telling = tuple(each for one in telling_names(counted, configuration.maskings) for each in _written(one, tallies))
    rare = _numbers({name: each < LEAST for name, each in sizes.items()})
    return ShownValues(rare, _numbers(below), telling, person is not None)


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


def _people(counted: Mapping[str, int], domain: Domain | None) -> Counts:
    """(values,) The people who have each unmasked value, of all or only of this domain."""
    told = (n for text, n in counted.items() if text not in {MISSING, STAR} and (not domain or text in domain.places))
    return np.fromiter(told, dtype=np.int64)
