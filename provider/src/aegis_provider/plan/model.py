"""The provider's plan: the attributes to summarise, their maskings, and the configurations."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Final

from aegis_provider.errors import PlanError, nearest
from aegis_provider.masking import Function, MaskedTable, MaskingFunction, RandomFunction
from aegis_provider.plan.generated import GeneratedTable
from aegis_provider.plan.prices import Prices
from aegis_provider.table.discretization import Rule
from aegis_provider.table.notation import PLAINLY, Writing
from aegis_provider.table.values import ValueType

LEAKS: Final = "leaks the label"
"""Begins the reason why a column is left out that gives the label away."""

IDENTITY = "identity"
DROP = "drop"


@dataclass(frozen=True)
class Masking:
    """A masking function and its id in configurations; `place` is its place in the plan."""

    id: str
    function: Function
    place: str

    @property
    def is_random(self) -> bool:
        """Whether it masks at random: equal values may get different masked values."""
        return isinstance(self.function, RandomFunction)

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is known only from a table masked elsewhere."""
        return isinstance(self.function, MaskedTable)

    @property
    def is_by_value(self) -> bool:
        """Whether each value determines its masked value."""
        return not (self.is_random or self.is_elsewhere)

    @property
    def is_of_label(self) -> bool:
        """Whether it can be that of a label: all may know the masked value of each value."""
        return isinstance(self.function, MaskingFunction) and not self.function.secret

    @property
    def is_secret(self) -> bool:
        """Whether only the provider may know the masked value of a value."""
        return self.function.secret


@dataclass(frozen=True)
class Limits:
    """The range of an attribute's choices, whatever that costs.

    `kept`: whether it is never dropped. `finest`: the choice that all others are functions of; `coarsest`: the one that
        is a function of all others. `None` without such a limit.
    """

    kept: bool = False
    finest: str | None = None
    coarsest: str | None = None

    @property
    def is_kept(self) -> bool:
        """Whether they exclude `drop`."""
        return self.kept or self.coarsest is not None


@dataclass(frozen=True)
class Attribute:
    """A column to summarise. Without `value_type` the type is inferred from the values.

    `discretization`: the rule for binning the numbers of a continuous attribute; `None` without bins. `default`: the
        choice of every configuration that does not name the attribute. `identity`: whether configurations may leave it
        unmasked. `fitted_to_label`: whether its maskings merge values with similar information about the label; for
        other records they must be refitted. `privacy_weight` and `importance`: in [0, 1], its weight in the penalty and
        in the reward for nearness of generated to real records; `None` if not stated. `order`: its values from the
        lowest to the highest, if stated. `scores`: of a label, the score of each bin or value, in order; `variance`:
        that of the number itself; `None` if not stated. `writing`: their written form in the table; texts of the plan
        itself are plain. `limits`: what configurations may choose. `weight`: how much it counts in a mean over the
        attributes.
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
    limits: Limits = Limits()
    weight: float = 1.0
    scores: tuple[float, ...] | None = None
    variance: float | None = None

    def masking(self, choice: str) -> Masking | None:
        """Return its masking with this id, or `None` for `identity` and `drop`."""
        return next((masking for masking in self.maskings if masking.id == choice), None)

    @property
    def kept_as(self) -> str:
        """Its choice if only others are searched: the default; a token or `drop` if raw values are forbidden."""
        if self.default != IDENTITY:
            return self.default
        tokens = [masking.id for masking in self.maskings if masking.is_secret]
        return next(iter(tokens), IDENTITY if self.identity else DROP)

    @property
    def is_secret(self) -> bool:
        """Whether one of its maskings is secret; then its unmasked counts would reveal the mapping."""
        return any(masking.is_secret for masking in self.maskings)

    @property
    def is_generable(self) -> bool:
        """Whether it may be shared unmasked, so that a generator may learn it."""
        return self.identity and not self.is_secret


@dataclass(frozen=True)
class Configuration:
    """One way to mask the whole table.

    `maskings`: for every attribute of the plan a masking id, `identity` or `drop`. `privacy`: the provider's promises
        by name (`k`, `l`, `t`, ...). `suppressed`: the number of left-out records, those of classes that break the
        promise; `None` if none are. `suppressed_cells`: the number of single cells of these records that become `*`
        instead; `suppressed` then counts only records for which suppressing cells is not enough. `None` if no cell is
        suppressed. `required`: the requirement of a search; values of `privacy` beyond it were measured. `None` if the
        provider stated all of `privacy`. `by_label`: with several labels, the `k` and `l` measured in the
        attack on each; `privacy` is the worst of all.
    """

    id: str
    maskings: Mapping[str, str]
    privacy: Mapping[str, int | float]
    suppressed: int | None = None
    suppressed_cells: int | None = None
    required: Mapping[str, int | float] | None = None
    by_label: Mapping[str, Mapping[str, int | float]] = field(default_factory=dict)

    @property
    def promised(self) -> Mapping[str, int | float]:
        """The promises that were not measured, so that they disclose nothing about the records."""
        return self.privacy if self.required is None else self.required

    @property
    def suppresses(self) -> bool:
        """Whether it suppresses records that break its promise, wholly or in part."""
        return self.suppressed is not None or self.suppressed_cells is not None


@dataclass(frozen=True)
class Roles:
    """The roles of columns in an attack: what an attacker knows of a person, and what nobody should learn.

    `label`: the attacked label, if the plan has several.
    """

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    label: str = ""

    def among(self, shared: Collection[str]) -> "Roles":
        """Return the roles of the columns that a release shares."""
        known = tuple(name for name in self.quasi_identifiers if name in shared)
        return Roles(known, tuple(name for name in self.sensitive if name in shared), self.label)


@dataclass(frozen=True)
class Plan:
    """A plan file, read and checked.

    `about`: what it says of the entry, such as its title. `sensitive`: the attributes, possibly the label,
        whose values nobody should learn about a person. `quasi_identifiers`: the attributes that an attacker may know
        of a person. `seed`: the seed of random maskings. `left_out`: columns of the table that are never shared, each
        with the reason. `saliency`: whether attributes without an `importance` get one by their saliency in a
        classifier of the label; otherwise it is 1. `generated`: the generated tables, offered in addition to the
        configurations. `holdout`: the share of records held out from them, and from the evaluation of all releases.
        `order`: the values of the label from the lowest to the highest, if stated. `fold_case`: whether values of the
        label that differ only in case or surrounding blanks are one. `person`: the column that says whose a record is,
        so that privacy counts people; it is never shared. `rows_per_person`: the most records of a person that are
        used; see `People` if it is `None`. `other_labels`: what else may be predicted; each is among `attributes`, too.
        `label_as`: what the plan says of the label, such as its bins if it is a number; `None` if nothing.
        `prices`: what masked tables cost, if stated. `files`: the plan file and the files that it names, ignored in
        comparisons.
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
    person: str | None = None
    rows_per_person: int | None = None
    other_labels: tuple[str, ...] = ()
    label_as: Attribute | None = None
    prices: Prices | None = None
    files: tuple[Path, ...] = field(default=(), compare=False, repr=False)

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels, the default one first; each other one is an attribute, too."""
        return (self.label, *self.other_labels)

    @cached_property
    def roles(self) -> tuple[Roles, ...]:
        """The attacks to protect people from: of several labels, one on each by somebody who knows all others."""
        if not self.other_labels:
            return (Roles(self.quasi_identifiers, self.sensitive),)
        known = [name for name in self.quasi_identifiers if name not in self.labels]
        more = [name for name in self.sensitive if name not in self.labels]
        others = {label: [name for name in self.labels if name != label] for label in self.labels}
        return tuple(Roles((*known, *others[label]), (label, *more), label) for label in self.labels)

    def roles_among(self, shared: Collection[str]) -> tuple[Roles, ...]:
        """Return the attacks on a release that shares these columns; on a label that it lacks there is none."""
        return tuple(each.among(shared) for each in self.roles if not each.label or each.label in shared)

    def with_default(self, label: str) -> "Plan":
        """Return the plan of the same releases with another of its labels as the default one.

        Configurations that drop that label are left out, and so are those that mask it by what no label may have. No
        masking is fitted to it.
        """
        chosen = next(attribute for attribute in self.attributes if attribute.name == label)
        chosen = replace(chosen, maskings=tuple(one for one in chosen.maskings if one.is_of_label))
        shown = {IDENTITY, *(one.id for one in chosen.maskings)}
        before = self.label_as or Attribute(self.label, None, ())
        before = replace(before, order=self.order, writing=self.writings[self.label])
        rest = (replace(each, fitted_to_label=False) for each in self.attributes if each.name != label)
        configurations = (
            replace(
                each,
                maskings={
                    self.label: IDENTITY,
                    **{name: of for name, of in each.maskings.items() if name != label or chosen.maskings},
                },
            )
            for each in self.configurations
            if each.maskings[label] in shown
        )
        return replace(
            self,
            label=label,
            attributes=(*rest, before),
            configurations=tuple(configurations),
            order=chosen.order,
            fold_case=chosen.writing.fold_case,
            other_labels=tuple(name for name in self.labels if name != label),
            label_as=chosen,
        )

    @property
    def all_roles(self) -> Roles:
        """The columns that somebody may know in some attack, and those that some attack is on."""
        known, sensitive = [each.quasi_identifiers for each in self.roles], [each.sensitive for each in self.roles]
        return Roles(tuple(dict.fromkeys(chain(*known))), tuple(dict.fromkeys(chain(*sensitive))))

    def described(self, name: str) -> Attribute | None:
        """Return what the plan says of an attribute or of the label."""
        if name == self.label:
            return self.label_as
        return next((attribute for attribute in self.attributes if attribute.name == name), None)

    @property
    def every(self) -> tuple[Attribute, ...]:
        """The attributes, and what the plan says of the label, if anything."""
        return (*self.attributes, *(() if self.label_as is None else (self.label_as,)))

    @property
    def chosen(self) -> tuple[Attribute, ...]:
        """What configurations choose for: the attributes, and a label that has maskings."""
        return self.attributes if self.masked_label is None else (*self.attributes, self.masked_label)

    @property
    def masked_label(self) -> Attribute | None:
        """What the plan says of the label, if it has maskings."""
        return self.label_as if self.label_as is not None and self.label_as.maskings else None

    @property
    def binned(self) -> Mapping[str, Rule]:
        """The rules for the bins of attributes, and of the label."""
        return {each.name: each.discretization for each in self.every if each.discretization is not None}

    @property
    def label_bins(self) -> Mapping[str, Rule]:
        """The rule for the bins of the label, a number, which generated records have in its place."""
        return {name: rule for name, rule in self.binned.items() if name == self.label}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that the plan needs: the attributes, then the label."""
        return (*(attribute.name for attribute in self.attributes), self.label)

    @property
    def weights(self) -> Mapping[str, float]:
        """How much attributes count in a mean over the attributes, if not 1."""
        return {attribute.name: attribute.weight for attribute in self.attributes if attribute.weight != 1}

    @property
    def writings(self) -> Mapping[str, Writing]:
        """The stated written forms of the table's columns."""
        return {
            **{attribute.name: attribute.writing for attribute in self.attributes},
            self.label: replace(PLAINLY if self.label_as is None else self.label_as.writing, fold_case=self.fold_case),
        }

    def of_plain_table(self) -> "Plan":
        """Return the plan for a plainly written table of its columns alone."""
        plain = self.changed(lambda each: replace(each, writing=PLAINLY))
        return replace(plain, fold_case=False, person=None, rows_per_person=None)

    @property
    def promised_names(self) -> frozenset[str]:
        """The names of the criteria that configurations promise."""
        return frozenset(name for configuration in self.configurations for name in configuration.privacy)

    def without_unused_secrets(self) -> "Plan":
        """Return the plan without unused secret maskings, which need no protection."""
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
        return self.changed(lambda of: replace(of, maskings=tuple(one for one in of.maskings if keep(of.name, one))))

    def changed(self, change: Callable[[Attribute], Attribute]) -> "Plan":
        """Return the plan with every attribute, and what it says of the label, changed so."""
        label_as = None if self.label_as is None else change(self.label_as)
        return replace(self, attributes=tuple(map(change, self.attributes)), label_as=label_as)

    def configuration(self, configuration_id: str) -> Configuration:
        """Return the configuration with this id.

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
        """Return the generated table with this id, if any."""
        return next((each for each in self.generated if each.id == table_id), None)
