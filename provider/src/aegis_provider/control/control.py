"""What a disclosure control is, and how it says what it changed."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from aegis_provider.control.promises import Roles
from aegis_provider.errors import ProviderError
from aegis_provider.progress import Progress
from aegis_sdk.wire import EntryDocument

_LEAST: Final = 2

_LARGEST: Final = 2**53 - 1
"""The largest count of the contract."""


class ControlError(ProviderError):
    """The controls contradict each other, or these counts cannot go through them."""


@dataclass(frozen=True)
class MergedValues:
    """The masked values that became one, `text`."""

    values: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class MergedMasking:
    """A masking some of whose masked values were merged.

    Attributes:
        groups: The masked values that were merged.
        masked: By value of the attribute, its masked value now.
    """

    attribute: str
    masking: str
    groups: tuple[MergedValues, ...]
    masked: Mapping[str, str]


@dataclass(frozen=True)
class NoisyTable:
    """A table that noise was added to: how many cells it has, its share of epsilon, and the scale of its noise."""

    table: str
    cells: int
    epsilon: float
    scale: float


@dataclass(frozen=True)
class Changes:
    """How a controlled entry differs from the one before.

    Attributes:
        merged: Maskings some of whose masked values were merged.
        maskings: Attribute and id of the maskings that were left out.
        configurations: Why each configuration that was left out was, by id.
        tables: What else was left out, in words.
        privacy: The numbers that a configuration no longer vouches for, by its id.
        recount: Configurations whose `suppressed` has to be counted again; it is not in the entry.
        noise: Tables that noise was added to.
    """

    merged: tuple[MergedMasking, ...] = ()
    maskings: tuple[tuple[str, str], ...] = ()
    configurations: Mapping[str, str] = field(default_factory=dict)
    tables: tuple[str, ...] = ()
    privacy: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    recount: tuple[str, ...] = ()
    noise: tuple[NoisyTable, ...] = ()

    @property
    def changes_the_plan(self) -> bool:
        """Whether the plan as it was would share other tables than the entry speaks of."""
        return bool(self.merged or self.maskings or self.configurations or self.privacy or self.recount)

    def followed_by(self, later: "Changes") -> "Changes":
        """These changes and then those of a later control."""
        return Changes(
            (*self.merged, *later.merged),
            (*self.maskings, *later.maskings),
            {**self.configurations, **later.configurations},
            (*self.tables, *later.tables),
            {**self.privacy, **later.privacy},
            (*self.recount, *later.recount),
            (*self.noise, *later.noise),
        )

    def listed(self) -> dict[str, Any]:
        """The changes as JSON values."""
        merged = [
            {"attribute": each.attribute, "masking": each.masking, "groups": [_listed(one) for one in each.groups]}
            for each in self.merged
        ]
        return {
            "merged": merged,
            "maskings_left_out": [{"attribute": name, "masking": masking} for name, masking in self.maskings],
            "configurations_left_out": [{"id": name, "reason": reason} for name, reason in self.configurations.items()],
            "tables_left_out": list(self.tables),
            "privacy_left_out": {name: list(names) for name, names in self.privacy.items()},
            "noise": [asdict(each) for each in self.noise],
        }


class Control(ABC):
    """One disclosure control with its parameters: what every published count goes through."""

    @abstractmethod
    def declared(self) -> dict[str, Any]:
        """Its fields of the entry's `disclosure_control`."""

    @abstractmethod
    def in_words(self) -> str:
        """What was done, to stand after `with`."""

    @abstractmethod
    def apply(self, entry: EntryDocument, roles: Roles, progress: Progress) -> tuple[EntryDocument, Changes]:
        """The entry after this control, and how it differs from the one before.

        Args:
            entry: As `summarize` makes it, or as an earlier control left it.
            roles: Of its attributes, for what still holds of what configurations vouch for.
            progress: Is told of the cells that are done, where that takes long.

        Raises:
            ControlError: The entry cannot go through it.
        """

    def conflict_with(self, other: "Control") -> str | None:  # noqa: ARG002 - most controls get on with every other
        """Why the two cannot be asked for together; None if they can."""
        return None

    @abstractmethod
    def may_publish(self, suppressed: int) -> bool:
        """Whether an exact number of records that a release leaves out may stand in the entry."""

    def caveats(self) -> Iterator[str]:
        """What whoever asks for it may not expect of it, as sentences."""
        return iter(())


@dataclass(frozen=True)
class Controlled:
    """An entry whose counts went through the controls.

    Attributes:
        suppressed: How many records a configuration of `changes.recount` leaves out, by its id, once they are counted.
    """

    entry: EntryDocument
    controls: tuple[Control, ...]
    changes: Changes
    suppressed: Mapping[str, int] = field(default_factory=dict)

    def declared(self) -> dict[str, Any]:
        """The entry's `disclosure_control`; empty without controls."""
        return {name: number for each in self.controls for name, number in each.declared().items()}


def refuse_parameter(what: str, number: float) -> None:
    """Refuses a parameter that is no count from 2 up.

    Raises:
        ControlError: The number is no integer, below 2, or larger than a count can be.
    """
    if not isinstance(number, int) or not _LEAST <= number <= _LARGEST:
        raise ControlError(f"the {what} is {number}; choose a number from {_LEAST} to {_LARGEST}")


def _listed(group: MergedValues) -> dict[str, Any]:
    return {"values": list(group.values), "became": group.text}
