"""What a provider intends: the attributes to summarise, how to mask each, and in which combinations."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from aegis_provider.errors import PlanError, nearest
from aegis_provider.masking import Function, MaskedTable, RandomFunction
from aegis_provider.table.discretization import Rule
from aegis_provider.table.values import ValueType

IDENTITY = "identity"
DROP = "drop"


@dataclass(frozen=True)
class Masking:
    """A masking function under the id that configurations call it by; `place` is where the plan states it."""

    id: str
    function: Function
    place: str

    @property
    def is_random(self) -> bool:
        """Whether it is left to chance: equal values may get different masked values."""
        return isinstance(self.function, RandomFunction)

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is known by a table that was masked elsewhere, and by nothing else."""
        return isinstance(self.function, MaskedTable)

    @property
    def is_by_value(self) -> bool:
        """Whether every value has a masked value of its own."""
        return not (self.is_random or self.is_elsewhere)

    @property
    def is_secret(self) -> bool:
        """Whether nobody but the provider may know which masked value a value has."""
        return self.function.secret


@dataclass(frozen=True)
class Attribute:
    """A column to summarise. Without `value_type` the type is inferred from the values.

    `discretization`: how the numbers of a continuous attribute become the bins that are its values; `None` if they do
    not. `default`: the choice of every configuration that does not name the attribute.
    """

    name: str
    value_type: ValueType | None
    maskings: tuple[Masking, ...]
    discretization: Rule | None = None
    default: str = IDENTITY

    def masking(self, choice: str) -> Masking | None:
        """Its masking of that id; none of `identity` and `drop`."""
        return next((each for each in self.maskings if each.id == choice), None)

    @property
    def kept_as(self) -> str:
        """What found configurations do with it if it is not searched: the default, but a token for raw values."""
        tokens = [masking.id for masking in self.maskings if masking.is_secret]
        return tokens[0] if tokens and self.default == IDENTITY else self.default

    @property
    def is_secret(self) -> bool:
        """Whether a masking of it is: its unmasked counts would tell which masked value is which."""
        return any(masking.is_secret for masking in self.maskings)


@dataclass(frozen=True)
class Configuration:
    """One way to mask the whole table.

    `maskings`: for every attribute of the plan a masking id, `identity` or `drop`. `privacy`: what the
    provider vouches for, numbers by name (`k`, `l`, `t`, ...). `suppressed`: how many records are left out, those of
    the classes that break this promise; `None` where none is.
    """

    id: str
    maskings: Mapping[str, str]
    privacy: Mapping[str, int | float]
    suppressed: int | None = None


@dataclass(frozen=True)
class Plan:
    """A plan file, read and checked.

    `about`: its title, description, keywords and license, if stated. `sensitive`: the attributes (the label perhaps)
    whose value nobody should learn of a person. `quasi_identifiers`: those by which someone may know a person.
    `seed`: what the draws of the maskings that are left to chance come from. `files`: the plan file and those that it
    names; where a plan is kept is no part of what it says.
    """

    source: str
    label: str
    attributes: tuple[Attribute, ...]
    configurations: tuple[Configuration, ...]
    about: Mapping[str, str | list[str]]
    sensitive: tuple[str, ...] = ()
    quasi_identifiers: tuple[str, ...] = ()
    seed: int = 0
    files: tuple[Path, ...] = field(default=(), compare=False, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that the plan needs: the attributes, then the label."""
        return (*(attribute.name for attribute in self.attributes), self.label)

    def without_unused_secrets(self) -> "Plan":
        """The plan without the secret maskings that no configuration uses: nothing need be hidden on their account."""
        used = {item for each in self.configurations for item in each.maskings.items()}
        attributes = [
            replace(
                each, maskings=tuple(one for one in each.maskings if not one.is_secret or (each.name, one.id) in used)
            )
            for each in self.attributes
        ]
        return replace(self, attributes=tuple(attributes))

    def configuration(self, configuration_id: str) -> Configuration:
        """The configuration of that id.

        Raises:
            PlanError: the plan has none.
        """
        by_id = {each.id: each for each in self.configurations}
        if configuration_id not in by_id:
            raise PlanError(
                f"{self.source}: no configuration {configuration_id!r}; {nearest(configuration_id, list(by_id))}"
            )
        return by_id[configuration_id]
