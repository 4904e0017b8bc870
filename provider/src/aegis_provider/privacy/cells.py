"""Suppression of the records whose equivalence class breaks a promise: whole records, or only single cells.

A suppressed cell becomes `*`, a separate value: the classes of the release are formed with it, and each must meet the
promise. Programs that read `*` as any value (sdcMicro's `localSuppression`) suppress fewer cells, but promise less: a
record with `*` counts in several classes at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import log
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.measures import mutual_information
from aegis_provider.counting.counted_table import CountedAttribute, CountedTable, DistinctRecords, MaskedDomain
from aegis_provider.counting.counts import Places
from aegis_provider.plan.model import DROP, Configuration, Roles
from aegis_provider.privacy.classes import Classes, class_of_each, classes_by_role, classes_in
from aegis_provider.privacy.measuring import breaks, left_out_people

STAR: Final = "*"
"""The text of a suppressed cell."""

MOST_SETS: Final = 4096
"""The most sets of attributes to try, besides the growing ones."""


@dataclass(frozen=True, eq=False)
class MaskedRecords:
    """Distinct records and their masking in a release.

    Attributes:
        mappings: By column, (values,) the place of each value's masked value; a column without one is unmasked.
        roles: The attacks on the release; in a release with several labels, on each.
    """

    records: DistinctRecords
    mappings: Mapping[str, Places]
    roles: tuple[Roles, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that decide whether a record is suppressed: of several attacks, those of all."""
        if len(self.roles) == 1:
            return self.roles[0].quasi_identifiers
        return tuple(dict.fromkeys(name for one in self.roles for name in (*one.quasi_identifiers, *one.sensitive)))

    def only(self, rows: NDArray[Any]) -> "MaskedRecords":
        """Return some of the records."""
        return replace(self, records=self.records.take(rows))

    def groups(self, without: Sequence[int] = ()) -> tuple[Places, int]:
        """Return (records,) the number of each record's class by its `columns`, and the number of classes.

        `without`: the places of the columns to ignore.
        """
        looked_at = [name for place, name in enumerate(self.columns) if place not in without]
        return class_of_each(self.records, self.mappings, looked_at)


@dataclass(frozen=True, eq=False)
class Suppressed:
    """The records that a release suppresses, wholly or in part.

    Attributes:
        places: (broken,) the places of the distinct records whose class breaks the promise.
        classes: (broken,) the number of the class of each among those `before`.
        columns: The columns of `MaskedRecords` that tell these classes apart.
        stars: (broken, columns) which of their cells are suppressed.
        left_out: (broken,) which of the records are left out.
        records: The number of records left out.
        cells: The number of suppressed cells of the other records.
        before: All classes of each attack before anything is suppressed.
        released: The classes of the release, of each attack.
        people: The numbers of the people who are left out; `None` if records are people.
        empties: (broken,) whether nobody stays in the class of each; `None` if only whole classes are left out.
    """

    places: Places
    classes: Places
    columns: tuple[str, ...]
    stars: NDArray[np.bool_]
    left_out: NDArray[np.bool_]
    records: int
    cells: int
    before: tuple[Classes, ...]
    released: tuple[Classes, ...]
    people: Places | None = None
    empties: NDArray[np.bool_] | None = None


def suppress(masked: MaskedRecords, promise: Mapping[str, float], costs: Mapping[str, float]) -> Suppressed:
    """Suppress cells of the records whose class breaks a promise; leave out those for which this is not enough.

    Sets of quasi-identifiers are tried, the smallest first, then the cheapest. All records that still break the promise
    are grouped by the quasi-identifiers outside the set. In the groups that meet the promise, the cells of the set are
    suppressed. Classes that meet the promise do not change.

    So records of one class before are in one class of the release, and an attacker who knows all quasi-identifiers of a
    person learns no more than that class. If the plan says whose a record is, people are left out whole. With several
    labels, records are left out until no class breaks the promise in the attack on any of them.

    Args:
        masked: The records, before anything is suppressed.
        costs: The cost of a suppressed cell, by quasi-identifier. Cells of the others are not suppressed. If it is
            empty, all records that break the promise are left out.
    """
    if masked.records.people is not None or len(masked.roles) > 1:
        return _without_people(masked, promise)
    groups, size = masked.groups()
    sensitive = masked.roles[0].sensitive
    before = classes_in(masked.records, masked.mappings, groups, size, sensitive)
    broken = np.flatnonzero(breaks(before, promise)[groups])
    stars = np.zeros((len(broken), len(masked.columns)), dtype=np.bool_)
    released, left = groups.copy(), broken
    for chosen in _sets(masked, costs):
        if not len(left):
            break
        some = masked.only(left)
        own, many = some.groups(without=chosen)
        classes = classes_in(some.records, some.mappings, own, many, sensitive, before)
        saved = ~breaks(classes, promise)[own]
        stars[np.searchsorted(broken, left[saved])[:, np.newaxis], chosen] = True
        released[left[saved]] = size + own[saved]
        left, size = left[~saved], size + many
    counts = masked.records.counts
    kept = np.setdiff1d(np.arange(len(counts)), left, assume_unique=True)
    numbers, own = np.unique(released[kept], return_inverse=True)
    rest = masked.only(kept)
    return Suppressed(
        places=broken,
        classes=groups[broken],
        columns=masked.columns,
        stars=stars,
        left_out=np.isin(broken, left),
        records=int(counts[left].sum()),
        cells=int(counts[broken] @ stars.sum(axis=1)),
        before=(before,),
        released=(classes_in(rest.records, rest.mappings, own, len(numbers), sensitive, before),),
    )


def _without_people(masked: MaskedRecords, promise: Mapping[str, float]) -> Suppressed:
    """Leave out everybody with a record in a class that breaks the promise, with all records."""
    records, (groups, _) = masked.records, masked.groups()
    out, before = left_out_people(records, masked.mappings, masked.roles, promise)
    places = np.flatnonzero(out)
    rest = masked.only(~out)
    return Suppressed(
        places=places,
        classes=groups[places],
        columns=masked.columns,
        stars=np.zeros((len(places), len(masked.columns)), dtype=np.bool_),
        left_out=np.ones(len(places), dtype=np.bool_),
        records=int(records.counts[places].sum()),
        cells=0,
        before=before,
        released=classes_by_role(rest.records, rest.mappings, rest.roles, before),
        people=None if records.people is None else np.unique(records.people[places]),
        empties=np.isin(groups[places], groups[~out], invert=True),
    )


def _sets(masked: MaskedRecords, costs: Mapping[str, float]) -> Iterator[tuple[int, ...]]:
    """Yield sets of places of quasi-identifiers: the smallest first, then the cheapest; finally a growing sequence."""
    names = masked.columns
    usable = sorted((place for place, name in enumerate(names) if name in costs), key=lambda at: costs[names[at]])
    tried = 0
    for many in range(1, len(usable) + 1):
        sets = sorted(combinations(usable, many), key=lambda each: sum(costs[names[at]] for at in each))
        if tried + len(sets) > MOST_SETS:
            yield from (tuple(usable[:rest]) for rest in range(many, len(usable) + 1))
            return
        tried += len(sets)
        yield from sets


def costs_of(counted: CountedTable, configuration: Configuration) -> dict[str, float]:
    """Return the cost of a suppressed cell of each attribute, by name, in a configuration that suppresses cells.

    It is the mutual information of the masked attribute with the label, in bits, less its bias (`(R - 1)(C - 1) / 2N`
    nats, Miller 1955). Attributes that are dropped or have one masked value have no cell to suppress. Those masked at
    random or elsewhere are not suppressed, nor are those with a masked value `*`, the text of suppressed cells.
    """
    if configuration.suppressed_cells is None:
        return {}
    costs = {attribute.attribute.name: _cost(counted, attribute, configuration) for attribute in counted.attributes}
    return {name: cost for name, cost in costs.items() if cost is not None}


def _cost(counted: CountedTable, attribute: CountedAttribute, configuration: Configuration) -> float | None:
    choice = configuration.maskings[attribute.attribute.name]
    masking = attribute.attribute.masking(choice)
    if choice == DROP or (masking is not None and not masking.is_by_value):
        return None
    texts = attribute.domain.texts if masking is None else counted.masked(attribute, masking)
    masked = MaskedDomain.of(texts)
    if len(masked.texts) == 1 or STAR in masked.texts:
        return None
    joint = attribute.counts.fold(masked.mapping, len(masked.texts))
    chance = (joint.shape[0] - 1) * (joint.shape[1] - 1) / (2 * log(2) * joint.sum())
    return max(0.0, mutual_information(joint.astype(np.float64)) - float(chance))
