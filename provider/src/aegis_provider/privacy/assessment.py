"""The privacy and the risk of a table and of every release of its plan."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.errors import PlanError
from aegis_provider.plan.model import DROP, IDENTITY, Attribute, Configuration, Plan, Roles
from aegis_provider.privacy.certain_values import certain_and_guessable, certain_values_warning, values_are_certain
from aegis_provider.privacy.classes import Classes, ClassSizes, Risk
from aegis_provider.privacy.criteria import CRITERIA, without_left_out
from aegis_provider.privacy.known_rows import KnownRows
from aegis_provider.privacy.measuring import holds, measure_privacy, measure_worst, refuse_without_order
from aegis_provider.privacy.privacy_table import PrivacyTable
from aegis_provider.processes import Progress
from aegis_provider.table import Source, delimiter_in, open_table
from aegis_sdk.reading import some
from aegis_sdk.wire import SUPPRESSED, strictest


@dataclass(frozen=True)
class Column:
    """A column in a release.

    `role`: its role in the plan. `masking`: the id of its masking, empty for a label without maskings.
    `becomes`: the masked values, described for people.
    """

    name: str
    role: str
    masking: str
    becomes: str


def roles_of(plan: Plan, configurations: Sequence[Configuration]) -> dict[str, str]:
    """Return the role of each column of the plan; without one, the number of configurations that share the column."""
    roles = dict.fromkeys(plan.quasi_identifiers, "quasi-identifier") | dict.fromkeys(plan.sensitive, "sensitive")
    for name in plan.columns:
        shared = sum(configuration.maskings.get(name) != DROP for configuration in configurations)
        some = f"neither: shared in {shared} of {len(configurations)}" if shared else "neither: not shared"
        roles.setdefault(name, "neither: shared" if shared == len(configurations) else some)
    return roles


def columns_of(plan: Plan, configuration: Configuration) -> tuple[Column, ...]:
    """Return the columns with their maskings in the configuration: quasi-identifiers, sensitive attributes, others."""
    attributes = {attribute.name: attribute for attribute in plan.chosen}
    return tuple(
        Column(name, role, configuration.maskings.get(name, ""), _becomes(attributes.get(name), configuration))
        for name, role in roles_of(plan, [configuration]).items()
    )


def maskings_in_short(plan: Plan, configuration: Configuration) -> str:
    """Return the ids of its maskings, `age-10, zip-2; without income`.

    An id of several attributes is preceded by the attribute's name.
    """
    ids = Counter(masking.id for attribute in plan.chosen for masking in attribute.maskings)
    masked = {name: choice for name, choice in configuration.maskings.items() if choice not in {IDENTITY, DROP}}
    dropped = [name for name, choice in configuration.maskings.items() if choice == DROP]
    short = ", ".join(choice if ids[choice] == 1 else f"{name}: {choice}" for name, choice in masked.items())
    without = f"without {', '.join(dropped)}" if dropped else ""
    return "; ".join(filter(None, (short, without))) or "nothing is masked"


def plan_of_roles(quasi_identifiers: Sequence[str], sensitive: Sequence[str]) -> Plan:
    """Return a plan without maskings and configurations, to measure a table directly, such as an already masked one.

    Raises:
        PlanError: A column is named twice, or none is named.
    """
    columns = [*quasi_identifiers, *sensitive]
    for place, name in enumerate(columns):
        if name in columns[:place]:
            raise PlanError(f"{name!r} is named twice; name each column once, as a quasi-identifier or as sensitive")
    if not columns:
        raise PlanError("no column is named; say which are quasi-identifiers and which are sensitive")
    # Every plan needs a label to count columns with. Any column will do as the label for privacy.
    label = columns[-1]
    attributes = tuple(Attribute(name, None, ()) for name in columns[:-1] or columns)
    return Plan("the columns named", label, attributes, (), {}, tuple(sensitive), tuple(quasi_identifiers))


def _becomes(attribute: Attribute | None, configuration: Configuration) -> str:
    choice = IDENTITY if attribute is None else configuration.maskings[attribute.name]
    if choice == DROP:
        return "not in the release"
    for masking in () if attribute is None else attribute.maskings:
        if masking.id == choice:
            return masking.function.describe()
    is_binned = attribute is not None and attribute.discretization is not None
    return "as it is, in the plan's bins" if is_binned else "as it is"


TRIVIAL: Final[Mapping[str, float]] = {"k": 1, "l": 1, "entropy_l": 1, "t": 1, "ordered_t": 1, "alpha": 1}
"""The value of each criterion that every table trivially satisfies."""

_ROUNDING = 1e-9


def promises_nothing(name: str, number: float) -> bool:
    """Whether every table trivially satisfies this value."""
    return name in TRIVIAL and abs(number - TRIVIAL[name]) <= _ROUNDING


_MOST_NAMES = 5

_LEFT_OUT: Final = {"suppressed": "records left out", "suppressed_cells": "cells suppressed"}

IN_BINS: Final = ", numbers in the plan's bins"
"""Added to the name of an unmasked table whose numbers the plan discretises."""


@dataclass(frozen=True)
class Verdict:
    """A promise and the value that the release reaches; `reached` is `None` if the table cannot show it."""

    name: str
    promised: float
    reached: float | None


@dataclass(frozen=True, eq=False)
class ReleasePrivacy:
    """A release: its promised and its measured privacy.

    Attributes:
        id: The id of its configuration.
        promise: The promised privacy by name.
        privacy: The measured privacy by name, after suppression.
        by_label: The same in the attack on each label, if the plan has several.
        sizes: The sizes of its equivalence classes after suppression, in the attack with the highest risk; `None` if
            nothing could be measured.
        suppressed: The number of records left out.
        suppressed_cells: The number of single cells suppressed.
        declared: The numbers of suppressed records and cells according to the plan, by name.
        certain: The number of records in classes with a single value of some sensitive attribute; with several labels,
            of the one of which most are.
        guessable: The share of records in classes where over `SURE` of the records have one such value, likewise.
        told: The part of its promise that others may see, by name; `None` if undecided.
        known: The people with fewer than `k` alike, to someone who knows some of their records; `None` if records are
            people.
        left_to_chance, masked_elsewhere: The attributes that prevented the measurement.
    """

    id: str
    promise: Mapping[str, float]
    privacy: Mapping[str, float]
    sizes: ClassSizes | None
    suppressed: int = 0
    suppressed_cells: int = 0
    declared: Mapping[str, int] = field(default_factory=dict)
    left_to_chance: tuple[str, ...] = ()
    masked_elsewhere: tuple[str, ...] = ()
    certain: int = 0
    guessable: float = 0.0
    told: Mapping[str, float] | None = None
    known: KnownRows | None = None
    by_label: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def risk(self) -> Risk | None:
        """The risk of re-identification; `None` without a measurement, or if no record is left."""
        return None if self.sizes is None else Risk.of(self.sizes)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Every promise, and the numbers of suppressed records and cells if the plan declares them."""
        verdicts = [Verdict(name, promised, self.privacy.get(name)) for name, promised in self.promise.items()]
        if self.sizes is not None:
            verdicts += [Verdict(name, number, getattr(self, name)) for name, number in self.declared.items()]
        return tuple(verdicts)

    @property
    def broken(self) -> tuple[Verdict, ...]:
        """The promises that it breaks."""
        broken = []
        for verdict in self.verdicts:
            if verdict.reached is None:  # the table cannot show it
                continue
            if verdict.name in SUPPRESSED:
                holds_it = verdict.reached == verdict.promised
            else:
                holds_it = holds(verdict.name, verdict.reached, verdict.promised)
            if not holds_it:
                broken.append(verdict)
        return tuple(broken)

    @property
    def breaches(self) -> str:
        """The promises that it breaks, in words: `k is 1, not 2`."""
        return self.breaches_in_words(counted=True)

    def breaches_in_words(self, *, counted: bool) -> str:
        """Say which promises it breaks; unless `counted`, without the numbers of suppressed records and cells."""
        told = [verdict for verdict in self.broken if counted or verdict.name not in SUPPRESSED]
        numbers = [(verdict.name, verdict.reached, verdict.promised) for verdict in told]
        if not counted:
            numbers = [
                (name, without_left_out(name, one or 0), without_left_out(name, two)) for name, one, two in numbers
            ]
        said = [f"{name} is {reached:.6g}, not {promised:.6g}" for name, reached, promised in numbers]
        return "; ".join(said) or "it leaves out another number than it declares"

    @property
    def promises(self) -> Mapping[str, float]:
        """The promised privacy that is not trivial, by name."""
        return {name: number for name, number in self.promise.items() if not promises_nothing(name, number)}

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """The promises that cannot be checked here; a release without records satisfies them all."""
        if self.sizes is not None and not self.sizes.records:
            return ()
        return tuple(verdict.name for verdict in self.verdicts if verdict.reached is None)

    @property
    def holds(self) -> bool | None:
        """Whether every promise is met; `None` if that cannot be checked."""
        if self.broken:
            return False
        return None if self.unmeasured or self.left_to_chance or self.masked_elsewhere else True

    def in_words(self, *, counted: bool = True) -> str:
        """Say whether it meets its promise; unless `counted`, without the numbers of suppressed records and cells."""
        if self.left_to_chance:
            return f"masked at random ({', '.join(self.left_to_chance)}): measure the masked table"
        if self.masked_elsewhere:
            return f"masked elsewhere ({', '.join(self.masked_elsewhere)}): measure that table"
        if self.broken:
            return f"BROKEN: {self.breaches_in_words(counted=counted)}"
        if self.risk is None:
            return "no record is left"
        kept = {verdict.name: verdict.promised for verdict in self.verdicts if verdict.reached is not None}
        if counted:
            told = kept
        elif self.told is None:
            told = {name: without_left_out(name, number) for name, number in kept.items()}
        else:
            told = {name: self.told[name] for name in kept if name in self.told}
        held = [
            f"{name} = {told[name]:.6g}"
            for name, number in kept.items()
            if name in told and name not in SUPPRESSED and not promises_nothing(name, number)
        ]
        parts = [f"holds {', '.join(held)}"] if held else []
        parts += [f"{int(kept[name]):,} {words}" for name, words in _LEFT_OUT.items() if counted and name in kept]
        parts += [f"{', '.join(self.unmeasured)} not measured"] if self.unmeasured else []
        return "; ".join(parts) or "promises nothing"


@dataclass(frozen=True, eq=False)
class Assessment:
    """A table `as_it_is`, with an empty `id`, and the releases of its plan, in the plan's order."""

    plan: Plan
    as_it_is: ReleasePrivacy
    releases: tuple[ReleasePrivacy, ...]

    @property
    def configurations(self) -> tuple[Configuration, ...]:
        """The configuration of each release."""
        chosen = {release.id for release in self.releases}
        return tuple(configuration for configuration in self.plan.configurations if configuration.id in chosen)

    @property
    def check_failures(self) -> tuple[ReleasePrivacy, ...]:
        """The table and the releases that break a promise, or have one that can be measured, but not here."""
        return tuple(
            release
            for release in (self.as_it_is, *self.releases)
            if release.broken or any(CRITERIA[name].is_measured for name in release.unmeasured)
        )

    @property
    def certain_values(self) -> str | None:
        """A warning if a release, or the table without releases, discloses some sensitive values for certain."""
        certain = [release for release in self.releases or (self.as_it_is,) if values_are_certain(release.privacy)]
        if not certain:
            return None
        by_label: dict[str, dict[str, int | float]] = {}
        for label, privacy in (each for release in certain for each in release.by_label.items()):
            if not values_are_certain(by_label.get(label, {})):
                by_label[label] = dict(privacy)
        of_people = self.as_it_is.sizes is not None and self.as_it_is.sizes.of_people
        how: dict[str, Any] = {"of_people": of_people, "by_label": by_label}
        if len(self.releases) < 2:  # noqa: PLR2004 - of one, there is nothing to list
            return certain_values_warning(certain[0].privacy, self.plan, certain[0].certain, **how)
        warning = certain_values_warning(certain[0].privacy, self.plan, **how)
        return f"{warning}, as {some([each.id for each in certain], _MOST_NAMES)} mask{'s' * (len(certain) == 1)} it"

    @property
    def neither(self) -> tuple[str, ...]:
        """The columns that are neither quasi-identifiers nor sensitive; they may still be released."""
        looked_at = {*self.plan.quasi_identifiers, *self.plan.sensitive}
        return tuple(name for name in self.plan.columns if name not in looked_at)

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns of the only release; empty unless there is exactly one release."""
        return columns_of(self.plan, self.configurations[0]) if len(self.releases) == 1 else ()

    @property
    def binned(self) -> tuple[str, ...]:
        """The measured columns that the plan discretises; even the unmasked table was measured on their bins."""
        columns = {*self.plan.quasi_identifiers, *self.plan.sensitive}
        return tuple(
            attribute.name
            for attribute in self.plan.attributes
            if attribute.discretization and attribute.name in columns
        )

    @property
    def unmasked_name(self) -> str:
        """The name of the table before any masking."""
        return f"table as it is{IN_BINS if self.binned else ''}"

    @property
    def unmasked_id(self) -> str:
        """The text for the unmasked table in place of the id of a release."""
        return "(as it is, in bins)" if self.binned else "(as it is)"


def assess(
    table: Source,
    plan: Plan,
    *,
    configuration: str | None = None,
    require: Mapping[str, float] | None = None,
    delimiter: str | None = None,
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _all: None,
) -> Assessment:
    """Measure the privacy of the table and of all releases of the plan.

    Args:
        table: A file, or anything else that `open_table` opens.
        configuration: The id of the only configuration to measure.
        require: Privacy by name that each release must reach besides its promise; without configurations, the table
            as it is must reach it.
        delimiter: Separator of the fields of a CSV table; by default, the usual one in its header.
        memory_limit: Memory that reading may use.

    Raises:
        PlanError: A configuration or a privacy criterion is unknown, or a criterion needs an order of sensitive values
        without one. TableError: The table does not fit the plan.
    """
    for name in require or {}:
        if name not in CRITERIA:
            raise PlanError(f"unknown privacy criterion {name!r}; use one of {', '.join(CRITERIA)}")
    chosen = plan.configurations if configuration is None else (plan.configuration(configuration),)
    delimiter = delimiter or delimiter_in(table, plan.label)
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        counted = CountedTable.of(opened, plan)
        refuse_without_order(require or {}, counted, plan)
        privacy_table = PrivacyTable.of(counted, plan)
    unmasked = privacy_table.unmasked()
    as_it_is = _measured("", {} if chosen else require or {}, plan.roles, unmasked)
    releases = []
    for done, each in enumerate(chosen):
        progress(done, len(chosen))
        releases.append(_release(privacy_table, each, require or {}))
    return Assessment(plan, as_it_is, tuple(releases))


def _release(table: PrivacyTable, configuration: Configuration, require: Mapping[str, float]) -> ReleasePrivacy:
    promise = strictest(configuration.privacy, require)
    chance, elsewhere = table.left_to_chance(configuration), table.masked_elsewhere(configuration)
    if chance or elsewhere:
        return ReleasePrivacy(
            configuration.id, promise, {}, None, left_to_chance=tuple(chance), masked_elsewhere=tuple(elsewhere)
        )
    roles = table.plan.roles_among(table.shared(configuration))
    k = {**configuration.promised, **require}.get("k", 1)  # the k that was asked for, not a higher one found for it
    if not configuration.suppresses:
        known = table.known_rows(configuration, None, k)
        return replace(_measured(configuration.id, promise, roles, table.masked(configuration)), known=known)
    suppressed = table.suppressed(configuration)
    declared = {name: getattr(configuration, name) for name in SUPPRESSED}
    return replace(
        _measured(configuration.id, promise, roles, suppressed.released),
        suppressed=suppressed.records,
        suppressed_cells=suppressed.cells,
        known=table.known_rows(configuration, suppressed, k),
        declared={name: number for name, number in declared.items() if number is not None},
    )


def _measured(
    release: str, promise: Mapping[str, float], roles: Sequence[Roles], attacks: Sequence[Classes]
) -> ReleasePrivacy:
    certain, sure = certain_and_guessable(attacks)
    by_label = {one.label: measure_privacy(classes) for one, classes in zip(roles, attacks, strict=True) if one.label}
    worst = min(map(ClassSizes.of, attacks), key=lambda each: (each.sizes[:1].tolist(), -each.classes.sum()))
    return ReleasePrivacy(
        release,
        promise,
        measure_worst(attacks),
        replace(worst, of_labels=len(roles) > 1),
        certain=certain,
        guessable=sure / max(1, int(attacks[0].sizes.sum())),
        by_label=by_label,
    )
