"""From a table, a plan and a requirement to the configurations that hold it."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor

import numpy as np

from aegis_provider.counting.counted_table import CountedAttribute, CountedTable
from aegis_provider.counting.distinct_records import DistinctRecords
from aegis_provider.counting.partition import Partition, Places
from aegis_provider.errors import NothingHoldsError, PlanError
from aegis_provider.plan.model import DROP, IDENTITY, Configuration, Plan
from aegis_provider.privacy import CRITERIA, breaks, measure_privacy
from aegis_provider.progress import Progress
from aegis_provider.search.choices import Choices
from aegis_provider.search.evaluation import Evaluation
from aegis_provider.search.lattice import Lattice, Node
from aegis_provider.search.minimal import Minimal, minimal_nodes
from aegis_provider.search.preference import information_kept, preferred, scores
from aegis_provider.search.requirement import Requirement
from aegis_provider.table import Source, open_table

_DECIMALS = 10**6


@dataclass(frozen=True)
class Found:
    """The configurations of a search, the best first.

    `information`: for each the share of the mutual information with the label that it keeps, in the mean over the
    quasi-identifiers. `nodes`: how many combinations of choices there are; `evaluated`: how many were looked at;
    `minimal`: how many hold what is required while nothing finer by a step does, of which these are the preferred ones;
    `complete`: whether no other minimal one is unknown. `records`: in the table.
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
) -> Found:
    """The minimal configurations that hold the requirement: none of whose maskings can be made finer by a step.

    The quasi-identifiers are masked by what the plan has for each: `identity`, its maskings but those that are left to
    chance, `drop`. All other attributes are `kept_as` they are. Where there are more than `most`, those are
    kept that `preferred` prefers. `privacy` of each is what the release reaches once `suppressed` records are left out.
    Raises `PlanError` for a requirement that makes no sense or takes too long to decide, `TableError` as `summarize`
    does, and `NothingHoldsError`.
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
    return _found(evaluation, plan, minimal, kept, tuple(scores(kept, shares).tolist()))


def evaluation_of(counted: CountedTable, plan: Plan, requirement: Requirement) -> Evaluation:
    """What is required of the counted table, and the lattice of the plan's maskings to find it in.

    Raises `TableError` as `CountedTable.of` does.
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
    """Of each sensitive attribute that every release masks, the place of each value's masked value."""
    for each in counted.attributes:
        default = each.attribute.kept_as
        if each.attribute.name not in plan.sensitive or default in {IDENTITY, DROP}:
            continue
        domains = counted.masked_domains(each)
        if default not in domains:
            name, masking = each.attribute.name, each.attribute.masking(default)
            to = "another table" if masking is not None and masking.is_elsewhere else "chance"
            raise PlanError(
                f"{plan.source}: {default!r} leaves {name!r}, which is sensitive, to {to}: nobody can search"
            )
        yield each.attribute.name, domains[default].partition().groups


def _lattice(counted: CountedTable, plan: Plan) -> Lattice:
    """The choices for every quasi-identifier, those that form a chain first: they are quicker to search."""
    attributes = {each.attribute.name: each for each in counted.attributes}
    choices = [_choices(counted, name, attributes.get(name)) for name in plan.quasi_identifiers]
    return Lattice(tuple(sorted(choices, key=lambda each: not each.is_chain)))


def _choices(counted: CountedTable, name: str, attribute: CountedAttribute | None) -> Choices:
    """Of an attribute; of the label, which nothing masks, if there is none.

    Who has tokens for an attribute does not mean to share it as it is, though both group its values alike.
    """
    if attribute is None:
        return Choices.of(name, {IDENTITY: Partition.identity(len(counted.label))})
    values = len(attribute.domain)
    masked = {masking: domain.partition() for masking, domain in counted.masked_domains(attribute).items()}
    dropped = Partition(np.zeros(values, dtype=np.intp), 1)
    unmasked = {} if attribute.attribute.is_secret else {IDENTITY: Partition.identity(values)}
    return Choices.of(name, {**unmasked, **masked, DROP: dropped})


def _found(evaluation: Evaluation, plan: Plan, minimal: Minimal, kept: Places, information: tuple[float, ...]) -> Found:
    nodes = [tuple(node) for node in kept.tolist()]
    configurations = tuple(_configuration(evaluation, plan, number, node) for number, node in enumerate(nodes, start=1))
    return Found(
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
    """`k`, `l` and what is required."""
    return tuple(dict.fromkeys(("k", "l", *evaluation.require)))


def _outward(name: str, value: float, required: float | None) -> int | float:
    """The value with six decimals, so rounded that the release keeps it as a promise, but not past what is required.

    So the classes that break this promise are those that were suppressed: they break what is required.
    """
    if isinstance(value, int):
        return value
    up, nearest = (floor, max) if CRITERIA[name].at_least else (ceil, min)
    rounded = up(value * _DECIMALS) / _DECIMALS
    return rounded if required is None else nearest(rounded, required)


def _nearest(evaluation: Evaluation, requirement: Requirement, plan: Plan, records: int) -> str:
    """What the coarsest combination comes to."""
    classes = evaluation.classes(evaluation.lattice.top)
    reached = measure_privacy(classes, _reported(evaluation))
    broken = int(classes.sizes[breaks(classes, evaluation.require)].sum())
    values = ", ".join(f"{name}={value:g}" for name, value in reached.items())
    return (
        f"{plan.source}: nothing holds {requirement.described()}; with everything masked as far as it goes, "
        f"{values}, and {broken} of {records} records would be suppressed"
    )
