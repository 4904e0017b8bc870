"""What the masked tables of one table tell together: whether a configuration is nested in one that left before.

The service sees no record. It compares how two configurations group the values of each attribute, by the published
mappings. Where every group of the finer one lies in one group of the coarser one, for all attributes, a table of the
coarser one can be made from one of the finer one, so both together tell no more than the finer one.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.atoms import coarsening
from aegis_advisor.evidence import DROP, IDENTITY, EntryContent
from app.tenants.model import Composed


class Relation(StrEnum):
    """How a configuration relates to another one; `OTHER` also stands for what is not known."""

    SAME = "same"
    COARSER = "coarser"
    FINER = "finer"
    OTHER = "other"


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """How a configuration groups the values of one attribute.

    Attributes:
        values: the attribute's values.
        groups: (values,) the group of each; None if it is random or not published.
        names: the masked values, `rule`: the function with its parameters, and how the values were made discrete.
    """

    values: Sequence[str]
    groups: NDArray[np.int64] | None
    names: Sequence[str]
    rule: tuple[Any, ...]

    @property
    def is_one_group(self) -> bool:
        """Whether all values look alike."""
        return self.groups is not None and not (self.groups != self.groups[:1]).any()

    def refines(self, other: "Cut") -> bool:
        """Whether each of its groups lies in one group of the other.

        Values that only one version has may have been counted elsewhere in the other, so with other values only the
        same function with the same masked values is the same.
        """
        if self.groups is None or other.groups is None:
            return False
        if set(self.values) != set(other.values):
            is_same = self.rule[0] is not None and self.rule == other.rule
            return is_same and list(self.names) == list(other.names)
        place = {value: index for index, value in enumerate(other.values)}
        theirs = other.groups[[place[value] for value in self.values]]
        return coarsening(self.groups, theirs, len(self.names)) is not None


Cuts: TypeAlias = Mapping[str, Cut]
"""The cuts of a configuration by shared attribute."""


class Cutting:
    """The configurations of one version of an entry as cuts, each of which is made once."""

    def __init__(self, entry: EntryContent) -> None:
        """Take an entry, which may lack its counts."""
        self._attributes = {one.name: one for one in entry.attributes}
        # The label is shared as it is. In another entry it may be an attribute.
        values = entry.label.domain
        self._label = {entry.label.name: Cut(values, np.arange(len(values)), values, (IDENTITY, None))}
        self._maskings = partial(_maskings_of, entry)
        self._cut = cache(self._made)

    def of(self, configurations: Sequence[str]) -> list[Cuts | None]:
        """The cuts of these configurations, in this order; None for a generated or an unknown one."""
        listed = self._maskings(configurations)
        return [self._cuts(listed.get(one)) for one in configurations]

    def _cuts(self, maskings: Mapping[str, str] | None) -> Cuts | None:
        if maskings is None:
            return None
        chosen = {name: maskings.get(name, DROP) for name in self._attributes}
        return self._label | {name: self._cut(name, choice) for name, choice in chosen.items() if choice != DROP}

    def _made(self, name: str, choice: str) -> Cut:
        attribute = self._attributes[name]
        values, discretization = attribute.domain, attribute.discretization
        if choice == IDENTITY:
            return Cut(values, np.arange(len(values)), values, (IDENTITY, discretization))
        masking = attribute.masking(choice)
        groups = None if masking.mapping is None else np.asarray(masking.mapping, dtype=np.int64)
        return Cut(values, groups, masking.domain, (masking.function, discretization))


def _maskings_of(entry: EntryContent, wanted: Collection[str]) -> dict[str, Mapping[str, str] | None]:
    """The maskings of some configurations of an entry; None for a generated one."""
    ids = set(wanted)
    listed = {one.id: None if one.is_generated else one.maskings for one in entry.configurations or () if one.id in ids}
    if (table := entry.configuration_table) is not None:
        rows = {name: row for row, name in enumerate(table.ids) if name in ids}
        columns = table.maskings.items()
        listed |= {name: {attribute: column[row] for attribute, column in columns} for name, row in rows.items()}
    return listed


class Comparison:
    """Compares configurations with those that left before. Two cuts are compared once."""

    def __init__(self, granted: Sequence[Cuts | None]) -> None:
        """Take the cuts of what left before; None for a generated table, or where they are not known any more."""
        self._granted = granted
        self._refines = cache(Cut.refines)

    def relations(self, cuts: Cuts | None) -> list[Relation]:
        """How a configuration relates to each that left before."""
        return [self._relation(cuts, one) for one in self._granted]

    def _relation(self, one: Cuts | None, other: Cuts | None) -> Relation:
        if one is None or other is None:
            return Relation.OTHER
        is_finer, is_coarser = self._is_finer(one, other), self._is_finer(other, one)
        if is_finer and is_coarser:
            return Relation.SAME
        return Relation.FINER if is_finer else Relation.COARSER if is_coarser else Relation.OTHER

    def _is_finer(self, one: Cuts, other: Cuts) -> bool:
        """Whether each class of the one configuration lies in one class of the other."""
        return all(self._refines(one[name], cut) if name in one else cut.is_one_group for name, cut in other.items())


def keeps(policy: Composed, relations: Iterable[Relation]) -> bool:
    """Whether a policy allows a configuration with these relations to all that left before.

    Nothing new leaves if one of these is at least as fine. If all of them are coarser, the configuration's own promise
    holds for all together.
    """
    relations = set(relations)
    if policy is Composed.ANY or not relations or Relation.SAME in relations:
        return True
    return policy is Composed.NESTED and (Relation.COARSER in relations or relations == {Relation.FINER})


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """A configuration of the same table that the consumer was granted before.

    Attributes:
        request_id: the latest request for it.
        at: the time of the delivery, or of the approval.
        relation: how the requested configuration relates to it; None if there is none yet.
    """

    request_id: str
    entry_name: str
    version: int
    version_id: int | None
    digest: str
    configuration: str
    at: datetime
    is_delivered: bool
    relation: Relation | None = None

    def __str__(self) -> str:
        """Which one: `c0071 of visits, version 1`."""
        return f"{self.configuration} of {self.entry_name}, version {self.version}"


@dataclass(frozen=True, slots=True)
class Composition:
    """What a consumer was granted of a table before a request, and what the provider's policy makes of it.

    Attributes:
        is_kept: whether granting the requested configuration keeps the policy.
        allowed: the first configuration of the consumer's advice that keeps it; None if there is none.
    """

    policy: Composed
    granted: tuple[Granted, ...]
    is_kept: bool = True
    allowed: str | None = None

    @property
    def unrelated(self) -> tuple[Granted, ...]:
        """The configurations because of which it is not kept."""
        fitting = Relation.SAME if self.policy is Composed.ONE else Relation.FINER
        return () if self.is_kept else tuple(one for one in self.granted if one.relation is not fitting)

    def refusal(self, consumer: str, configuration: str, beside: str) -> str:
        """Why the configuration is not granted beside others, and what can be done."""
        if self.policy is Composed.ONE:
            why = "The policy 'one' allows only what it has."
        else:
            why = (
                f"{configuration} is not known to be nested in what it has, so groups of both together may be smaller "
                "than either promises."
            )
        instead = f"{self.allowed} keeps the policy: offer it instead, or" if self.allowed else "You can"
        return f"{consumer} has {beside}. {why} {instead} accept the composition (`accept_composition`)."
