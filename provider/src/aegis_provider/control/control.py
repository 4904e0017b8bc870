"""The interface of disclosure controls, the record of what they change, and the promises still valid after them."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Self, TypeAlias

from aegis_provider.control.lasting import LastingRandomness
from aegis_provider.counting.merged_table import MergedMasking, MergedValues
from aegis_provider.counting.pair_tables import PairsTold
from aegis_provider.errors import ProviderError
from aegis_provider.plan.model import Configuration, Roles
from aegis_provider.privacy import CRITERIA
from aegis_provider.processes import Progress
from aegis_sdk import wire
from aegis_sdk.wire import IDENTITY, SUPPRESSED, EntryDocument


@dataclass(frozen=True)
class ValidPromises:
    """The configurations with the privacy guarantees that are still valid.

    Attributes:
        configurations: The configurations with the remaining guarantees.
        lost: The names of the lost guarantees, by id.
        recount: The ids of the configurations whose suppressed records or cells may have changed.
    """

    configurations: tuple[wire.Configuration, ...]
    lost: dict[str, tuple[str, ...]]
    recount: tuple[str, ...]


_Merged: TypeAlias = Collection[tuple[str, str]]


def valid_promises(configurations: Sequence[wire.Configuration], merged: _Merged, roles: Roles) -> ValidPromises:
    """Return the guarantees that are valid after the maskings in `merged` (attribute, id) have become coarser.

    `CRITERIA` says which merging each criterion survives. Merged classes are mixtures, and most criteria are no worse
    on a mixture than on its worst part. Merged sensitive values are fewer and more frequent.
    """
    kept, lost, recount = [], {}, []
    for configuration in configurations:
        coarser = {name for name, masking in configuration.maskings.items() if (name, masking) in merged}
        classes_merge = bool(coarser.intersection(roles.quasi_identifiers))
        values_merge = bool(coarser.intersection(roles.sensitive))
        names = tuple(
            name
            for name in configuration.privacy or {}
            if (classes_merge and not CRITERIA[name].survives_merged_classes)
            or (values_merge and not CRITERIA[name].survives_merged_values)
        )
        left = {name: number for name, number in (configuration.privacy or {}).items() if name not in names}
        if names:
            lost[configuration.id] = names
        reclassed = classes_merge or values_merge
        suppresses = any(getattr(configuration, name) is not None for name in SUPPRESSED)
        recounted = dict.fromkeys(SUPPRESSED) if reclassed and suppresses else {}
        if recounted:
            recount.append(configuration.id)
        by_label = without_names(configuration.privacy_by_label, names)
        changes = {"privacy_by_label": by_label} if by_label else {}
        kept.append(configuration.model_copy(update={"privacy": left or None, **recounted, **changes}))
    return ValidPromises(tuple(kept), lost, tuple(recount))


def without_names(by_label: Mapping[str, Mapping[str, float]], names: Collection[str]) -> dict[str, dict[str, float]]:
    """Return the privacy of each label without these criteria."""
    return {label: {name: each[name] for name in each if name not in names} for label, each in by_label.items()}


def without_unshared(entry: EntryDocument) -> EntryDocument:
    """Return the entry without the unmasked joint counts of attributes that no configuration leaves unmasked.

    Those of other labels stay, like the default label's.
    """
    shared = {
        name
        for configuration in entry.masked
        for name, masking in configuration.maskings.items()
        if masking == IDENTITY
    }
    shared |= set(entry.labels or ())
    attributes = [
        attribute
        if attribute.name in shared or attribute.joint is None
        else attribute.model_copy(update={"joint": None})
        for attribute in entry.attributes
    ]
    return entry.model_copy(update={"attributes": attributes})


_LEAST: Final = 2

_LARGEST: Final = 2**53 - 1
"""The largest count of the contract."""


class ControlError(ProviderError):
    """The controls contradict each other or cannot be applied to these counts."""


@dataclass(frozen=True)
class NoisyTable:
    """A table with noise: its number of cells, its share of epsilon, and the scale of its noise."""

    table: str
    cells: int
    epsilon: float
    scale: float


@dataclass(frozen=True)
class Changes:
    """The differences between a controlled entry and the original.

    Attributes:
        merged: Maskings with merged masked values.
        label: The label values that were merged; none if none were.
        tables: Everything left out, in words.
        rounded: Tables that were rounded because their small counts could not be merged, in words.
        privacy: The names of the criteria that a configuration no longer guarantees, by its id.
        recount: Configurations whose suppressed records and cells must be counted again; the entry omits them.
        noise: Tables with noise.
    """

    merged: tuple[MergedMasking, ...] = ()
    label: MergedValues | None = None
    tables: tuple[str, ...] = ()
    rounded: tuple[str, ...] = ()
    privacy: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    recount: tuple[str, ...] = ()
    noise: tuple[NoisyTable, ...] = ()

    @property
    def changes_the_plan(self) -> bool:
        """Whether the original plan would release other tables than the entry describes."""
        return bool(self.merged or self.privacy or self.recount)

    def followed_by(self, later: "Changes") -> "Changes":
        """Return these changes combined with those of a later control."""
        return Changes(
            (*self.merged, *later.merged),
            self.label or later.label,
            (*self.tables, *later.tables),
            (*self.rounded, *later.rounded),
            {**self.privacy, **later.privacy},
            (*self.recount, *later.recount),
            (*self.noise, *later.noise),
        )

    def listed(self) -> dict[str, Any]:
        """Return the changes as JSON values."""
        merged = [
            {
                "attribute": masking.attribute,
                "masking": masking.masking,
                "groups": [{"values": list(one.values), "became": one.text} for one in masking.groups],
            }
            for masking in self.merged
        ]
        return {
            "merged": merged,
            "merged_labels": [{"values": list(one.values), "became": one.text} for one in (self.label,) if one],
            "tables_left_out": list(self.tables),
            "tables_rounded": list(self.rounded),
            "privacy_left_out": {name: list(names) for name, names in self.privacy.items()},
            "noise": [asdict(table) for table in self.noise],
        }


@dataclass(frozen=True)
class Beside:
    """Knowledge beyond an entry that its controls use.

    Attributes:
        told: The associations of pairs with the label: label sums and frequent combinations.
        merged: The maskings merged before the table was counted.
        label: The label values merged before.
        rounds: Whether all counts will be rounded later.
        promised: The unmeasured promises of each configuration, by its id.
    """

    told: PairsTold = field(default_factory=PairsTold)
    merged: tuple[MergedMasking, ...] = ()
    label: MergedValues | None = None
    rounds: bool = False
    promised: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


class Control(ABC):
    """A disclosure control with its parameters, applied to every published count."""

    @abstractmethod
    def declared(self) -> dict[str, Any]:
        """Return the fields that the control adds to the entry's `disclosure_control`."""

    @abstractmethod
    def in_words(self) -> str:
        """Describe what the control did, in words that follow `with`."""

    @abstractmethod
    def apply(self, entry: EntryDocument, roles: Roles, progress: Progress) -> tuple[EntryDocument, Changes]:
        """Return the entry after this control, and its differences from the entry before.

        Args:
            entry: The entry from `summarize` or from an earlier control.
            roles: The roles of its attributes, which decide which privacy guarantees of configurations are still valid.
            progress: Called with the cells done so far by a slow control.

        Raises:
            ControlError: The control cannot be applied to the entry.
        """

    def knowing(self, beside: Beside) -> Self:  # noqa: ARG002 - most controls need only the entry
        """Return the control with the knowledge it needs beyond the entry."""
        return self

    def drawing_from(self, chance: LastingRandomness) -> Self:  # noqa: ARG002 - noise is drawn afresh each time
        """Return the control with this randomness for its rounding."""
        return self

    def of_people(self, rows: int) -> Self:  # noqa: ARG002 - noise reads it in the entry
        """Return the control that hides a person, with at most `rows` records, as this one hides a record."""
        return self

    def conflict_with(self, other: "Control") -> str | None:  # noqa: ARG002 - most controls work with every other
        """Return why the two controls cannot be combined, or `None` if they can."""
        return None

    @abstractmethod
    def suppressed(self, number: int) -> int | None:
        """Return the number of suppressed records, or cells, to publish for this exact one; `None` to publish none."""

    def caveats(self) -> Iterator[str]:
        """Yield sentences on what the control does not protect."""
        return iter(())


@dataclass(frozen=True)
class Controlled:
    """An entry after its disclosure controls.

    Attributes:
        recounted: The configurations in `changes.recount` by id, with their suppressed records and cells recounted.
    """

    entry: EntryDocument
    controls: tuple[Control, ...]
    changes: Changes
    recounted: Mapping[str, Configuration] = field(default_factory=dict)

    def declared(self) -> dict[str, Any]:
        """Return the entry's `disclosure_control`, which is empty without controls."""
        return {name: number for control in self.controls for name, number in control.declared().items()}


def people_within(number: int, records: int, rows: int) -> int:
    """Return the nearest number of people who can have these published records, one to `rows` each."""
    return min(max(number, -(-records // rows)), records)


def refuse_parameter(what: str, number: float) -> None:
    """Reject a parameter that is not a valid count of at least 2.

    Raises:
        ControlError: The number is not an integer, is below 2, or exceeds the largest possible count.
    """
    if not isinstance(number, int) or not _LEAST <= number <= _LARGEST:
        raise ControlError(f"the {what} is {number}; choose a number from {_LEAST} to {_LARGEST}")
