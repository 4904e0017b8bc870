"""What is to be done to the counts of an entry before they are published, and what was done."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, TypeAlias

from aegis_provider.errors import ProviderError

Split: TypeAlias = Literal["equal", "cube_root"]

_LEAST: Final = 2

_LARGEST: Final = 2**53 - 1
"""The largest count of the contract."""

_EPSILONS: Final = (1e-6, 1e6)
"""Less would be noise alone, in numbers larger than counts can be; more would be none."""


class ControlError(ProviderError):
    """The controls contradict each other, or these counts cannot go through them."""


@dataclass(frozen=True)
class Controls:
    """What every published count goes through; nothing, unless asked for.

    `min_cell`: no count but 0 is below this afterwards. `round_to`: counts become multiples of this, by chance up or
    down. `epsilon`: the budget of differential privacy of all tables together, which `split` divides among them.
    Raises `ControlError` for what makes no sense, or not together.
    """

    min_cell: int | None = None
    round_to: int | None = None
    epsilon: float | None = None
    split: Split = "equal"

    def __post_init__(self) -> None:
        for name, number in (("minimum cell count", self.min_cell), ("base", self.round_to)):
            if number is not None and not _LEAST <= number <= _LARGEST:
                raise ControlError(f"the {name} is {number}; choose a number from {_LEAST} to {_LARGEST}")
        if self.epsilon is None:
            return
        least, most = _EPSILONS
        if not (math.isfinite(self.epsilon) and least <= self.epsilon <= most):
            raise ControlError(f"epsilon is {self.epsilon:g}; choose a number from {least:g} to {most:g}")
        if self.min_cell is not None:
            raise ControlError(
                "a minimum cell count merges by the exact counts, which no epsilon covers; choose one of the two"
            )
        if self.round_to is not None:
            raise ControlError("noise hides what rounding would; choose an epsilon or a base, not both")

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return bool(self.declared())

    def declared(self) -> dict[str, Any]:
        """The entry's `disclosure_control`."""
        asked = {"min_cell": self.min_cell, "rounded_to": self.round_to, "epsilon": self.epsilon}
        split = {} if self.epsilon is None else {"split": self.split}
        return {name: number for name, number in asked.items() if number is not None} | split


@dataclass(frozen=True)
class MergedValues:
    """The masked values that became one, `text`."""

    values: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class MergedMasking:
    """A masking some of whose masked values were merged.

    `groups`: those that were. `masked`: by value of the attribute, its masked value now.
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

    `maskings`: attribute and id of those left out. `configurations`: by id, why it was left out. `tables`: what else
    was left out, in words. `privacy`: by id of a configuration, the numbers that it no longer vouches for. `recount`:
    the configurations whose `suppressed` has to be counted again; it is not in the entry.
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

    def listed(self) -> dict[str, Any]:
        """As JSON values."""
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


@dataclass(frozen=True)
class Controlled:
    """An entry whose counts went through the controls.

    `suppressed`: by id of a configuration of `changes.recount`, how many records it leaves out, once they are counted.
    """

    entry: dict[str, Any]
    controls: Controls
    changes: Changes
    suppressed: Mapping[str, int] = field(default_factory=dict)


def _listed(group: MergedValues) -> dict[str, Any]:
    return {"values": list(group.values), "became": group.text}
