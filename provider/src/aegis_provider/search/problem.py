"""The input of a search (table, plan, requirements) as evaluations and utilities of the nodes of a lattice."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from math import floor
from typing import Final

import numpy as np

from aegis_advisor.measures import TIE_BREAK, Measure
from aegis_provider.counting.counted_table import CountedAttribute, CountedTable, DistinctRecords, MaskedDomain
from aegis_provider.counting.counts import Partition, Places
from aegis_provider.counting.label_scores import numbers_by_label
from aegis_provider.counting.label_tasks import label_tasks
from aegis_provider.counting.published_domain import listed_values
from aegis_provider.counting.unmasked_trace import whole_values
from aegis_provider.errors import PlanError, nearest
from aegis_provider.plan.model import DROP, IDENTITY, Attribute, Limits, Plan
from aegis_provider.privacy import CRITERIA, measured_names
from aegis_provider.search.evaluation import Evaluation
from aegis_provider.search.lattice import Choices, Lattice, Node
from aegis_provider.search.utility import MOST_COLUMNS, MeanShare, MeanUtility, Utility, UtilityCounts
from aegis_provider.table.discretization import Binned
from aegis_sdk.reading import number

# A masking with fewer masked values does not keep an attribute.
_KEPT: Final = 2


def in_words(privacy: Mapping[str, float]) -> str:
    """Return required privacy in words: `k = 5, l = 2`."""
    return ", ".join(f"{name} = {number(limit, 6)}" for name, limit in privacy.items())


@dataclass(frozen=True)
class Requirement:
    """The requirement that every resulting configuration must meet.

    `suppress_at_most`: the share of records, from 0 to below 1, that may be suppressed because their equivalence class
    breaks the requirement.
    """

    privacy: Mapping[str, float]
    suppress_at_most: float = 0.0

    def check_alone(self) -> None:
        """Reject a requirement that is invalid for every plan.

        Raises:
            PlanError: It is invalid.
        """
        if not self.privacy:
            raise PlanError("nothing is required; require k=5, for example")
        for name in self.privacy:
            if name not in measured_names():
                raise PlanError(f"{name!r} cannot be required of a table; {nearest(name, list(measured_names()))}")
        if not 0 <= self.suppress_at_most < 1:
            raise PlanError(f"the share to suppress must be at least 0 and below 1, not {self.suppress_at_most}")

    def check(self, plan: Plan) -> None:
        """Reject an invalid requirement.

        Raises:
            PlanError: The requirement is invalid, or invalid for this plan.
        """
        self.check_alone()
        for name in self.privacy:
            if CRITERIA[name].needs_sensitive and not plan.sensitive:
                raise PlanError(f"{plan.source}: sensitive: names no attribute, but {name} needs one")
        if not plan.quasi_identifiers:
            raise PlanError(
                f"{plan.source}: no attribute is a quasi-identifier, so there is nothing to mask; name some under "
                "quasi_identifiers, or delete that line, and all are"
            )

    def described(self) -> str:
        """Return the requirement in words: `k=5, l=2, at most 0.01 of the records suppressed`."""
        parts = [f"{name}={number:g}" for name, number in self.privacy.items()]
        return ", ".join([*parts, f"at most {self.suppress_at_most:.4g} of the records suppressed"])


def lattice_of(counted: CountedTable, plan: Plan) -> Lattice:
    """Return the choices for every quasi-identifier, chains first, since these are faster to search.

    Raises:
        PlanError: The default of a quasi-identifier is not a function of the value.
    """
    limits = {attribute.name: attribute.limits for attribute in plan.attributes}  # the table may be counted without
    attributes = {
        one.attribute.name: replace(one, attribute=replace(one.attribute, limits=limits[one.attribute.name]))
        for one in counted.attributes
    }
    for each in (one for name, one in attributes.items() if name not in plan.quasi_identifiers):
        _check_unsearched(counted, each, plan.source)
    choices = [_choices(counted, plan, name, attributes.get(name)) for name in plan.quasi_identifiers]
    return Lattice(tuple(sorted(choices, key=lambda each: not each.is_chain)))


def _choices(counted: CountedTable, plan: Plan, name: str, attribute: CountedAttribute | None) -> Choices:
    """Return the choices for an attribute, or, without one, for the label, which is never masked.

    An attribute with a secret masking, such as tokens, does not get the choice `identity`, because it must not be
    shared unmasked. Nothing is finer than a default other than `identity`.
    """
    if attribute is None:
        return Choices.of(name, {IDENTITY: Partition.identity(len(counted.label))})
    values, default = len(attribute.domain), attribute.attribute.default
    masked = {masking: domain.partition() for masking, domain in counted.masked_domains(attribute).items()}
    unmasked = attribute.attribute.identity and not attribute.attribute.is_secret
    choices = {IDENTITY: Partition.identity(values)} if unmasked else {}
    choices |= {**masked, DROP: Partition(np.zeros(values, dtype=np.intp), 1)}
    listed = {IDENTITY: _listed(counted, attribute, masked.values())}
    if default != IDENTITY:
        if default not in choices:
            raise PlanError(_undecidable(attribute, plan, "quasi-identifier"))
        finest = choices[default]
        choices = {default: finest} | {id_: of for id_, of in choices.items() if of.follows_from(finest)}
    return Choices.of(name, _within_limits(attribute.attribute, choices, masked, plan.source), listed)


def _within_limits(
    attribute: Attribute, choices: Mapping[str, Partition], masked: Mapping[str, Partition], source: str
) -> dict[str, Partition]:
    """Return the choices that an attribute's limits allow; a masking with a single masked value keeps nothing.

    Raises:
        PlanError: They allow none.
    """
    limits, raw = attribute.limits, Partition.identity(len(next(iter(choices.values())).groups))
    known, allowed = {IDENTITY: raw, **masked}, dict(choices)
    if limits.is_kept:
        least = 1 if limits.coarsest is not None or raw.size == 1 else _KEPT
        allowed = {id_: of for id_, of in allowed.items() if id_ != DROP and of.size >= least}
    if limits.finest is not None:
        allowed = {id_: of for id_, of in allowed.items() if of.follows_from(known[limits.finest])}
    if limits.coarsest is not None:
        allowed = {id_: of for id_, of in allowed.items() if known[limits.coarsest].follows_from(of)}
    if not allowed:
        raise PlanError(f"{source}: attributes.{attribute.name}: {_contradiction(attribute, known)}")
    return allowed


def _check_unsearched(counted: CountedTable, attribute: CountedAttribute, source: str) -> None:
    """Reject an attribute that is not searched if the choice that it always has is outside its limits."""
    of = attribute.attribute
    if of.limits != Limits():
        masked = {masking: domain.partition() for masking, domain in counted.masked_domains(attribute).items()}
        choices = {IDENTITY: Partition.identity(len(attribute.domain)), **masked}
        if of.kept_as in choices:
            _within_limits(of, {of.kept_as: choices[of.kept_as]}, masked, source)


def _contradiction(attribute: Attribute, known: Mapping[str, Partition]) -> str:
    """Return why an attribute's limits leave no choice."""
    limits = attribute.limits
    finest, coarsest = limits.finest or attribute.default, limits.coarsest
    if coarsest is None:
        return "the plan keeps it, but all that is left merges all its values; give it a finer masking"
    if finest in known and known[finest].follows_from(known[coarsest]) and finest != coarsest:
        return f"{finest!r}, the finest allowed, is coarser than {coarsest!r}, the coarsest allowed; change one of them"
    return f"no masking is from {finest!r} to {coarsest!r}, the finest and the coarsest allowed; change one of them"


def listed_partition(counted: CountedTable, attribute: CountedAttribute) -> Partition:
    """Return the groups of an attribute's values that an entry lists by default if it is shared unmasked."""
    return _listed(counted, attribute, [domain.partition() for domain in counted.masked_domains(attribute).values()])


def _listed(counted: CountedTable, attribute: CountedAttribute, shared: Iterable[Partition]) -> Partition:
    binned = isinstance(counted.table.reading(attribute.attribute.name), Binned)
    return listed_values(attribute, list(shared), binned=binned)


def unsearched(counted: CountedTable, plan: Plan) -> dict[str, Partition]:
    """Return the groups in an entry of each attribute that is masked only by its value and not a quasi-identifier."""
    groups = {}
    for each in counted.attributes:
        name, choice = each.attribute.name, each.attribute.kept_as
        if name not in plan.quasi_identifiers and choice == IDENTITY:
            groups[name] = listed_partition(counted, each)
        elif name not in plan.quasi_identifiers and choice in (domains := counted.masked_domains(each)):
            groups[name] = domains[choice].partition()
    return groups


def masked_always(counted: CountedTable, plan: Plan) -> Iterator[tuple[str, Places]]:
    """Yield each sensitive attribute, or label, that every release masks, with the place of each value's masked value.

    Raises:
        PlanError: Its default is not a function of the value.
    """
    for each in counted.chosen(plan):
        default = each.attribute.kept_as
        if each.attribute.name not in plan.sensitive or default in {IDENTITY, DROP}:
            continue
        domains = counted.masked_domains(each)
        if default not in domains:
            raise PlanError(_undecidable(each, plan, "sensitive attribute"))
        yield each.attribute.name, domains[default].partition().groups


def _undecidable(counted: CountedAttribute, plan: Plan, role: str) -> str:
    name, default = counted.attribute.name, counted.attribute.kept_as
    masking = counted.attribute.masking(default)
    to = "another table" if masking is not None and masking.is_elsewhere else "chance"
    return (
        f"{plan.source}: {default!r} leaves the {role} {name!r} to {to}, which the search cannot evaluate; choose "
        "another default"
    )


@dataclass(frozen=True, eq=False)
class Problem:
    """The problem of a search.

    Attributes:
        evaluations: For each requirement, its evaluation for the nodes of a lattice. The lattice lacks choices that
            meet no requirement, even with the coarsest other choices.
        utility: That of each node. With several labels it is the mean over the labels of the share that is kept.
        information: Their mean mutual information with the label over the attributes, as a tie-breaker; with several
            labels, with the default one.
        unmasked: The utility of the unmasked table, with its values in groups.
        by_label: The utility about each label, if the plan has several, and that of the unmasked table.
        evaluated: The number of evaluations for the choice of the lattice.
        ignored: By attribute, the choices excluded for too many masked values.
    """

    evaluations: Sequence[Evaluation]
    utility: Utility
    information: MeanUtility
    unmasked: float
    nodes: int
    evaluated: int
    ignored: Mapping[str, tuple[str, ...]]
    by_label: Mapping[str, tuple[Utility, float]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        counted: CountedTable,
        plan: Plan,
        requirements: Sequence[Requirement],
        measure: Measure,
        told: DistinctRecords | None = None,
    ) -> "Problem":
        """Read the records of the counted table.

        `told`: the records that utility is measured on, with at least the plan's attributes and the label as columns;
        without them, all records of the table.

        Raises:
            PlanError: The search cannot evaluate a default.
            TableError: As in `CountedTable.of`.
        """
        first = evaluation_of(counted, plan, requirements[0])
        every = [_required(first, requirement, counted.records) for requirement in requirements]
        possible, evaluated = _possible(every)
        choices, others, ignored = _comparable(possible, unsearched(counted, plan), measure)
        names = [choice.attribute for choice in choices if choice.attribute != plan.label]
        records = told or DistinctRecords.of(counted, [*names, *others, plan.label], by_person=False)
        whole = _whole(counted)
        weights = {attribute.name: attribute.weight for attribute in plan.attributes}
        numbers = numbers_by_label(counted, plan)
        counts = UtilityCounts(records, plan.label, choices, others, whole, weights, numbers)
        lattice, label = Lattice(choices), counted.masked_label(plan)
        always = None if label is None else counted.masked_domains(label).get(label.attribute.default)
        shown = counts.showing(always)
        utility, unmasked = shown.utility(measure), counts.unmasked(measure)
        by_label = {}
        if plan.other_labels:
            tasks = label_tasks(counted, plan)
            about = {name: _whole(task) for name, task in tasks.items() if name in others}
            by_label = {plan.label: (utility, unmasked)} | {
                name: (
                    shown.about(name, of).showing(_masked(counted, plan, name)).utility(measure),
                    counts.about(name, of).unmasked(measure),
                )
                for name, of in about.items()
            }
            utility = MeanShare.of(*zip(*by_label.values(), strict=True))
            unmasked = float(sum(utility.weights) > 0)
        return cls(
            [replace(evaluation, lattice=lattice) for evaluation in every],
            utility,
            shown.mean(TIE_BREAK),
            unmasked,
            first.lattice.nodes,
            evaluated,
            ignored,
            by_label,
        )

    def kept_by_label(self, nodes: Sequence[Node]) -> dict[str, tuple[float, ...]]:
        """Return (nodes,) the share that each keeps of what the unmasked table tells about each of several labels."""
        codes = np.array(nodes, dtype=np.intp)
        return {
            label: tuple((about.score(codes)[0] / whole).tolist()) if whole > 0 else (1.0,) * len(nodes)
            for label, (about, whole) in self.by_label.items()
        }


def _masked(counted: CountedTable, plan: Plan, label: str) -> MaskedDomain | None:
    """Return how every release masks another label than the default one; `None` if it does not."""
    [default] = [each.default for each in plan.attributes if each.name == label]
    return counted.masked_domains(counted.attribute(label)).get(default)


def _whole(counted: CountedTable) -> dict[str, Partition]:
    return {one.attribute.name: of for one, of in zip(counted.attributes, whole_values(counted), strict=True)}


def evaluation_of(counted: CountedTable, plan: Plan, requirement: Requirement) -> Evaluation:
    """Return the evaluation of the requirement on the counted table and the lattice of the plan's maskings.

    Raises:
        PlanError: The search cannot evaluate a default.
        TableError: As in `CountedTable.of`.
    """
    lattice = lattice_of(counted, plan)
    names = [choice.attribute for choice in lattice.choices]
    masked = dict(masked_always(counted, plan))
    dropped = {attribute.name for attribute in plan.attributes if attribute.kept_as == DROP}
    shown = [name for name in plan.sensitive if name not in dropped]
    roles = tuple(
        replace(one, quasi_identifiers=(*names, *(name for name in one.quasi_identifiers if name not in names)))
        for one in plan.roles_among([*names, *shown])
    )
    records = DistinctRecords.of(counted, [*names, *shown])
    return _required(Evaluation(lattice, records, roles, {}, 0, masked), requirement, counted.records)


def _required(evaluation: Evaluation, requirement: Requirement, records: int) -> Evaluation:
    suppressed = floor(Decimal(str(requirement.suppress_at_most)) * records)
    return replace(evaluation, require=requirement.privacy, suppressed=suppressed)


def _possible(evaluations: Sequence[Evaluation]) -> tuple[tuple[Choices, ...], int]:
    """Return the choices that meet the `k` and `l` of a requirement with the coarsest choice of all other attributes.

    No finer combination with another choice meets them. Also return how many evaluations there were.
    """
    lattice, evaluated = evaluations[0].lattice, 0
    chosen = []
    for axis, each in enumerate(lattice.choices):
        possible = [] if each.has_ceiling else [len(each) - 1]  # the coarsest is not tried
        for place in range(len(each) - len(possible)):
            node = (*lattice.top[:axis], place, *lattice.top[axis + 1 :])
            evaluated += len(evaluations)
            if any(one.holds_counts(node) for one in evaluations):
                possible.append(place)
        chosen.append(each.only(sorted(possible) or range(len(each))))
    return tuple(chosen), evaluated


def _comparable(
    choices: Sequence[Choices], others: Mapping[str, Partition], measure: Measure
) -> tuple[tuple[Choices, ...], dict[str, Partition], dict[str, tuple[str, ...]]]:
    """Leave out the choices with the most masked values until a joint measure can compare the others.

    Returns:
        The remaining choices and other attributes, and by attribute the choices left out.
    """
    searched = {choice.attribute: choice for choice in choices}
    rest, ignored = dict(others), dict[str, tuple[str, ...]]()
    while measure.is_joint:
        columns = sum(part.size for each in searched.values() for part in each.listed)
        if columns + sum(partition.size for partition in rest.values()) <= MOST_COLUMNS:
            break
        sizes = {name: each.listed[0].size for name, each in searched.items() if len(each) > 1}
        sizes |= {name: partition.size for name, partition in rest.items()}
        if not sizes:
            raise PlanError(
                f"more than {MOST_COLUMNS:,} masked values are left to compare, as the plan keeps them; allow coarser "
                "maskings, or choose a measure of single attributes, such as mutual_information"
            )
        largest = max(sizes, key=sizes.__getitem__)
        if rest.pop(largest, None) is not None:
            ignored[largest] = (IDENTITY,)
        else:
            each = searched[largest]
            ignored[largest] = (*ignored.get(largest, ()), each.ids[0])
            searched[largest] = each.only(range(1, len(each)))
    return tuple(searched.values()), rest, ignored
