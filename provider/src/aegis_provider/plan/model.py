"""The provider's plan: the attributes to summarise, how to mask each, and in which combinations."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from aegis_provider.errors import PlanError, nearest
from aegis_provider.masking import Function, MaskedTable, RandomFunction
from aegis_provider.plan.generated import GeneratedTable
from aegis_provider.table.discretization import Rule
from aegis_provider.table.values import ValueType
from aegis_provider.table.writing import PLAINLY, Writing

IDENTITY = "identity"
DROP = "drop"


@dataclass(frozen=True)
class Masking:
    """A masking function and the id that configurations use for it; `place` is where the plan states it."""

    id: str
    function: Function
    place: str

    @property
    def is_random(self) -> bool:
        """Whether it masks at random: equal values may get different masked values."""
        return isinstance(self.function, RandomFunction)

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is known only from a table that was masked elsewhere."""
        return isinstance(self.function, MaskedTable)

    @property
    def is_by_value(self) -> bool:
        """Whether each value determines its masked value."""
        return not (self.is_random or self.is_elsewhere)

    @property
    def is_secret(self) -> bool:
        """Whether only the provider may know which masked value a value has."""
        return self.function.secret


@dataclass(frozen=True)
class Attribute:
    """A column to summarise. Without `value_type` the type is inferred from the values.

    `discretization`: how the numbers of a continuous attribute become the bins that are its values; `None` if they are
    not binned. `default`: the choice of every configuration that does not name the attribute. `identity`: whether
    configurations may leave it unmasked. `fitted_to_label`: whether its maskings merge values that tell the same about
    the label; for other records they must be fitted anew. `privacy_weight` and `importance`: in [0, 1], how much it
    counts where a generated record must not be near a real one, and where it should be; `None` if the plan is silent.
    `order`: its values from the lowest to the highest, if the plan states that. `writing`: how they are written in the
    table; texts of the plan itself are plain.
    """

    name: str
    value_type: ValueType | None
    maskings: tuple[Masking, ...]
    discretization: Rule | None = None
    default: str = IDENTITY
    identity: bool = True
    fitted_to_label: bool = False
    privacy_weight: float | None = None
    importance: float | None = None
    order: tuple[str, ...] | None = None
    writing: Writing = PLAINLY

    def masking(self, choice: str) -> Masking | None:
        """Return its masking with that id, or `None` for `identity` and `drop`."""
        return next((masking for masking in self.maskings if masking.id == choice), None)

    @property
    def kept_as(self) -> str:
        """Its choice if only other attributes are searched: the default, and instead of forbidden raw values a token or
        nothing.
        """
        if self.default != IDENTITY:
            return self.default
        tokens = [masking.id for masking in self.maskings if masking.is_secret]
        return next(iter(tokens), IDENTITY if self.identity else DROP)

    @property
    def is_secret(self) -> bool:
        """Whether one of its maskings is secret; then its unmasked counts would reveal which masked value is which."""
        return any(masking.is_secret for masking in self.maskings)

    @property
    def is_generable(self) -> bool:
        """Whether it may be shared as it is, so that a generator may learn it."""
        return self.identity and not self.is_secret


@dataclass(frozen=True)
class Configuration:
    """One way to mask the whole table.

    `maskings`: for every attribute of the plan a masking id, `identity` or `drop`. `privacy`: what the provider vouches
    for, numbers by name (`k`, `l`, `t`, ...). `suppressed`: how many records are left out, namely those of the classes
    that break this promise; `None` if none are. `suppressed_cells`: how many single cells of these records become `*`
    instead; `suppressed` then counts only the records that no suppressed cell saves. `None` if no cell is suppressed.
    `required`: what a search was asked for; the numbers of `privacy` beyond it were measured. `None` if its provider
    states all of `privacy`.
    """

    id: str
    maskings: Mapping[str, str]
    privacy: Mapping[str, int | float]
    suppressed: int | None = None
    suppressed_cells: int | None = None
    required: Mapping[str, int | float] | None = None

    @property
    def promised(self) -> Mapping[str, int | float]:
        """What is promised of it without having been measured, so that it tells nothing about the records."""
        return self.privacy if self.required is None else self.required

    @property
    def suppresses(self) -> bool:
        """Whether it suppresses the records that break its promise, wholly or in part."""
        return self.suppressed is not None or self.suppressed_cells is not None


@dataclass(frozen=True)
class Plan:
    """A plan file, read and checked.

    `about`: its title, description, keywords and license, if stated. `sensitive`: the attributes (perhaps the label)
    whose value nobody should learn about a person. `quasi_identifiers`: the attributes that someone may know of a
    person. `seed`: the seed of the random maskings. `left_out`: columns of the table that are never shared, each with
    the reason. `saliency`: whether attributes without an `importance` get one by how much they tell a classifier about
    the label; otherwise it is 1. `generated`: the generated tables that are offered beside the configurations.
    `holdout`: the share of the records that they, and figures of all releases, were not made of. `order`: the values of
    the label from the lowest to the highest, if the plan states that. `fold_case`: whether values of the label that
    differ only in case, or in blanks around them, are one. `files`: the plan file and the files that it names;
    comparisons ignore where a plan is kept.
    """

    source: str
    label: str
    attributes: tuple[Attribute, ...]
    configurations: tuple[Configuration, ...]
    about: Mapping[str, str | list[str]]
    sensitive: tuple[str, ...] = ()
    quasi_identifiers: tuple[str, ...] = ()
    seed: int = 0
    left_out: Mapping[str, str] = field(default_factory=dict)
    saliency: bool = True
    generated: tuple[GeneratedTable, ...] = ()
    holdout: float | None = None
    order: tuple[str, ...] | None = None
    fold_case: bool = False
    files: tuple[Path, ...] = field(default=(), compare=False, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that the plan needs: the attributes, then the label."""
        return (*(attribute.name for attribute in self.attributes), self.label)

    @property
    def writings(self) -> Mapping[str, Writing]:
        """How the columns of the table are written, as far as the plan states that."""
        return {**{each.name: each.writing for each in self.attributes}, self.label: Writing(fold_case=self.fold_case)}

    def of_plain_table(self) -> "Plan":
        """Return the plan for a table in which everything is written plainly."""
        attributes = tuple(replace(each, writing=PLAINLY) for each in self.attributes)
        return replace(self, attributes=attributes, fold_case=False)

    @property
    def promised_names(self) -> frozenset[str]:
        """The names of the criteria that configurations vouch for."""
        return frozenset(name for configuration in self.configurations for name in configuration.privacy)

    def without_unused_secrets(self) -> "Plan":
        """Return the plan without the secret maskings that no configuration uses; they need no protection."""
        return self._with_maskings(lambda name, one: not one.is_secret or (name, one.id) in self._used)

    def with_shared_maskings(self) -> "Plan":
        """Return the plan with only the maskings that its configurations use."""
        return self._with_maskings(lambda name, one: (name, one.id) in self._used)

    def shares_unmasked(self, attribute: str) -> bool:
        """Return whether a configuration leaves an attribute unmasked."""
        return (attribute, IDENTITY) in self._used

    @cached_property
    def _used(self) -> frozenset[tuple[str, str]]:
        """Every attribute with each choice of a configuration."""
        return frozenset(item for configuration in self.configurations for item in configuration.maskings.items())

    def _with_maskings(self, keep: Callable[[str, Masking], bool]) -> "Plan":
        attributes = [
            replace(each, maskings=tuple(one for one in each.maskings if keep(each.name, one)))
            for each in self.attributes
        ]
        return replace(self, attributes=tuple(attributes))

    def configuration(self, configuration_id: str) -> Configuration:
        """Return the configuration with that id.

        Raises:
            PlanError: The plan has no such configuration.
        """
        by_id = {configuration.id: configuration for configuration in self.configurations}
        if self.generated_table(configuration_id) is not None:
            raise PlanError(f"{self.source}: {configuration_id!r} is a generated table; name a masked configuration")
        if configuration_id not in by_id:
            known = [*by_id, *(each.id for each in self.generated)]
            raise PlanError(f"{self.source}: no configuration {configuration_id!r}; {nearest(configuration_id, known)}")
        return by_id[configuration_id]

    def generated_table(self, table_id: str) -> GeneratedTable | None:
        """Return the generated table with that id, if there is one."""
        return next((each for each in self.generated if each.id == table_id), None)
