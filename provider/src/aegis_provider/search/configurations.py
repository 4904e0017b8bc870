"""Search for the configurations of a plan that meet a requirement on a table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor

import numpy as np

from aegis_provider.counting.counted_table import CountedAttribute, CountedTable, DistinctRecords
from aegis_provider.counting.counts import Partition, Places
from aegis_provider.errors import NothingHoldsError, PlanError, nearest
from aegis_provider.plan.model import DROP, IDENTITY, Configuration, Plan
from aegis_provider.privacy import CRITERIA, breaks, measure_privacy, measured_names
from aegis_provider.progress import Progress
from aegis_provider.search.evaluation import Evaluation, Minimal, minimal_nodes
from aegis_provider.search.lattice import Choices, Lattice, Node
from aegis_provider.search.preference import information_kept, preferred, scores
from aegis_provider.table import Source, open_table

_DECIMALS = 10**6


@dataclass(frozen=True)
class Requirement:
    """The requirement that every configuration found must meet.

    Attributes:
        privacy: The required numbers, by the names of criteria.
        suppress_at_most: The share of records, from 0 to below 1, that may be suppressed because their equivalence
            class breaks the requirement.
    """

    privacy: Mapping[str, float]
    suppress_at_most: float = 0.0

    def check(self, plan: Plan) -> None:
        """Reject an invalid requirement.

        Raises:
            PlanError: The requirement is invalid, or invalid for this plan.
        """
        if not self.privacy:
            raise PlanError("nothing is required; require k=5, for example")
        for name in self.privacy:
            if name not in measured_names():
                raise PlanError(f"{name!r} cannot be required of a table; {nearest(name, list(measured_names()))}")
            if CRITERIA[name].needs_sensitive and not plan.sensitive:
                raise PlanError(f"{plan.source}: sensitive: names no attribute, but {name} needs one")
        if not 0 <= self.suppress_at_most < 1:
            raise PlanError(f"the share to suppress must be at least 0 and below 1, not {self.suppress_at_most}")
        if not plan.quasi_identifiers:
            raise PlanError(f"{plan.source}: no attribute is a quasi-identifier, so there is nothing to mask")

    def described(self) -> str:
        """Return the requirement in words: `k=5, l=2, at most 0.01 of the records suppressed`."""
        parts = [f"{name}={number:g}" for name, number in self.privacy.items()]
        return ", ".join([*parts, f"at most {self.suppress_at_most:.4g} of the records suppressed"])


@dataclass(frozen=True)
class SearchResult:
    """The result of a search.

    Attributes:
        configurations: The configurations kept, the best first.
        information: For each configuration, the share of mutual information with the label that it keeps, as a mean
            over the quasi-identifiers.
        nodes: The number of combinations of choices.
        evaluated: The number of combinations evaluated.
        minimal: The number of minimal combinations found: they meet the requirement, and none that is finer by one step
            does. The preferred ones are kept.
        complete: Whether all minimal combinations were found.
        records: The number of records in the table.
    """

    configurations: tuple[Configuration, ...]
    information: tuple[float, ...]
    nodes: int
    evaluated: int
    minimal: int
    complete: bool
    records: int


def find_configurations(
    table: Source,
    plan: Plan,
    requirement: Requirement,
    *,
    most: int = 1000,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _nodes: None,
) -> SearchResult:
    """Return the minimal configurations that meet the requirement: no masking can be made finer by a step.

    The choices for each quasi-identifier are `identity`, its maskings in the plan that are not random, and `drop`. All
    other attributes follow their `kept_as`. If there are more than `most` configurations, those that `preferred`
    chooses are kept. The `privacy` of each is what its release reaches after `suppressed` records are left out.

    Raises:
        PlanError: The requirement is invalid or takes too long to decide.
        TableError: As in `summarize`.
        NothingHoldsError: No configuration meets the requirement.
    """
    requirement.check(plan)
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        counted = CountedTable.of(opened, plan)
        evaluation = evaluation_of(counted, plan, requirement)
    minimal = minimal_nodes(evaluation, plan.source, most, progress)
    if not len(minimal.nodes):
        raise NothingHoldsError(_nearest(evaluation, requirement, plan, counted.records))
    shares = information_kept(counted, evaluation.lattice.choices)
    kept = preferred(minimal.nodes, shares, most)
    return _result(evaluation, plan, minimal, kept, tuple(scores(kept, shares).tolist()))


def evaluation_of(counted: CountedTable, plan: Plan, requirement: Requirement) -> Evaluation:
    """Return the evaluation of the requirement on the counted table and the lattice of the plan's maskings.

    Raises:
        TableError: As in `CountedTable.of`.
    """
    lattice = _lattice(counted, plan)
    names = [each.attribute for each in lattice.choices]
    masked = dict(_masked_always(counted, plan))
    dropped = {each.name for each in plan.attributes if each.kept_as == DROP}
    sensitive = tuple(name for name in plan.sensitive if name not in dropped)
    records = DistinctRecords.of(counted, [*names, *sensitive])
    suppressed = floor(Decimal(str(requirement.suppress_at_most)) * counted.records)
    return Evaluation(lattice, records, sensitive, requirement.privacy, suppressed, masked)


def _masked_always(counted: CountedTable, plan: Plan) -> Iterator[tuple[str, Places]]:
    """Yield each sensitive attribute that every release masks, with the place of each value's masked value."""
    for each in counted.attributes:
        default = each.attribute.kept_as
        if each.attribute.name not in plan.sensitive or default in {IDENTITY, DROP}:
            continue
        domains = counted.masked_domains(each)
        if default not in domains:
            name, masking = each.attribute.name, each.attribute.masking(default)
            to = "another table" if masking is not None and masking.is_elsewhere else "chance"
            raise PlanError(
                f"{plan.source}: {default!r} leaves the sensitive attribute {name!r} to {to}, which the search cannot "
                "evaluate; choose another default"
            )
        yield each.attribute.name, domains[default].partition().groups


def _lattice(counted: CountedTable, plan: Plan) -> Lattice:
    """Return the choices for every quasi-identifier, chains first, since these are faster to search."""
    attributes = {each.attribute.name: each for each in counted.attributes}
    choices = [_choices(counted, name, attributes.get(name)) for name in plan.quasi_identifiers]
    return Lattice(tuple(sorted(choices, key=lambda each: not each.is_chain)))


def _choices(counted: CountedTable, name: str, attribute: CountedAttribute | None) -> Choices:
    """Return the choices for an attribute, or, without one, for the label, which nothing masks.

    An attribute with a secret masking, such as tokens, does not get the choice `identity`, because it must not be
    shared unmasked.
    """
    if attribute is None:
        return Choices.of(name, {IDENTITY: Partition.identity(len(counted.label))})
    values = len(attribute.domain)
    masked = {masking: domain.partition() for masking, domain in counted.masked_domains(attribute).items()}
    dropped = Partition(np.zeros(values, dtype=np.intp), 1)
    unmasked = {} if attribute.attribute.is_secret else {IDENTITY: Partition.identity(values)}
    return Choices.of(name, {**unmasked, **masked, DROP: dropped})


def _result(
    evaluation: Evaluation, plan: Plan, minimal: Minimal, kept: Places, information: tuple[float, ...]
) -> SearchResult:
    nodes = [tuple(node) for node in kept.tolist()]
    configurations = tuple(_configuration(evaluation, plan, number, node) for number, node in enumerate(nodes, start=1))
    return SearchResult(
        configurations=configurations,
        information=information,
        nodes=evaluation.lattice.nodes,
        evaluated=minimal.evaluated,
        minimal=len(minimal.nodes),
        complete=minimal.complete,
        records=int(evaluation.records.counts.sum()),
    )


def _configuration(evaluation: Evaluation, plan: Plan, number: int, node: Node) -> Configuration:
    chosen = {each.attribute: each.ids[place] for each, place in zip(evaluation.lattice.choices, node, strict=True)}
    maskings = {each.name: chosen.get(each.name, each.kept_as) for each in plan.attributes}
    classes = evaluation.classes(node)
    broken = breaks(classes, evaluation.require)
    reached = measure_privacy(classes.without(broken), _reported(evaluation))
    privacy = {name: _outward(name, value, evaluation.require.get(name)) for name, value in reached.items()}
    return Configuration(f"c{number:04}", maskings, privacy, int(classes.sizes[broken].sum()) or None)


def _reported(evaluation: Evaluation) -> tuple[str, ...]:
    """Return `k`, `l` and the required criteria."""
    return tuple(dict.fromkeys(("k", "l", *evaluation.require)))


def _outward(name: str, value: float, required: float | None) -> int | float:
    """Round the value to six decimals so that the release keeps it as a promise, but never weaker than required.

    This way the classes that break the promise are exactly the suppressed ones, which break the requirement.
    """
    if isinstance(value, int):
        return value
    up, stricter = (floor, max) if CRITERIA[name].at_least else (ceil, min)
    rounded = up(value * _DECIMALS) / _DECIMALS
    return rounded if required is None else stricter(rounded, required)


def _nearest(evaluation: Evaluation, requirement: Requirement, plan: Plan, records: int) -> str:
    """Return the message that nothing meets the requirement, with what the coarsest combination reaches."""
    classes = evaluation.classes(evaluation.lattice.top)
    reached = measure_privacy(classes, _reported(evaluation))
    broken = int(classes.sizes[breaks(classes, evaluation.require)].sum())
    values = ", ".join(f"{name}={value:g}" for name, value in reached.items())
    return (
        f"{plan.source}: no configuration meets {requirement.described()}; with the coarsest masking of every "
        f"attribute, {values}, and {broken} of {records} records would be suppressed"
    )
