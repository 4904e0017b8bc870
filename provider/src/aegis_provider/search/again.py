"""What the configurations of an earlier search have and keep on the table as it is today."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import Partition
from aegis_provider.errors import NothingHoldsError
from aegis_provider.plan.model import DROP, IDENTITY, Configuration, Plan
from aegis_provider.privacy import holds
from aegis_provider.search.coarser_labels import with_labels_as
from aegis_provider.search.configurations import FrontierPoint, SearchResult, described, named, reported
from aegis_provider.search.lattice import Lattice, Node
from aegis_provider.search.problem import Problem, Requirement
from aegis_provider.search.utility import measure_of_search
from aegis_provider.table import Source, delimiter_in, open_table


def measure_again(
    table: Source,
    plan: Plan,
    requirements: Sequence[Requirement],
    *,
    measure: str = "joint",
    delimiter: str | None = None,
    memory_limit: str = "1GB",
) -> SearchResult:
    """Return the configurations of a plan that still meet what they were found for, as `find_configurations` does.

    They keep their ids. Each is measured by its own `required` privacy, and may leave out other records than before.
    The frontier has the best of them for each requirement, which is not proven to be optimal.

    Args:
        plan: The plan with the configurations of an earlier search.
        requirements: The requirements of that search; at most the share that the first allows is left out.

    Raises:
        PlanError: A requirement is invalid for the plan, or the measure is unknown.
        TableError: As in `summarize`.
        NothingHoldsError: No configuration meets its requirement any more.
    """
    for requirement in requirements:
        requirement.check(plan)
    delimiter = delimiter or delimiter_in(table, plan.label)
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        counted = CountedTable.of(opened, plan)
        first = next(iter(plan.configurations), None)  # all show labels alike
        shown = {} if first is None else {name: first.maskings.get(name, IDENTITY) for name in plan.labels}
        counted, plan = with_labels_as(counted, plan, {name: of for name, of in shown.items() if of != DROP})
        problem = Problem.of(counted, plan, requirements, measure_of_search(measure, plan))
    found = dict(_measured(problem, counted, plan, requirements))
    if not found:
        raise NothingHoldsError(
            f"{plan.source}: no configuration of the earlier release still has {requirements[0].described()}; make a "
            "new release, in another folder"
        )
    scores, _ = problem.utility.score(np.array([node for node, _ in found.values()], dtype=np.intp))
    order = np.argsort(-scores.round(10), kind="stable").tolist()
    configurations = [[configuration for _, configuration in found.values()][place] for place in order]
    utilities = [float(scores[place]) for place in order]
    unmasked = max(problem.unmasked, *utilities)
    shares = [each / unmasked if unmasked > 0 else 1.0 for each in utilities]
    return SearchResult(
        configurations=tuple(configurations),
        utilities=tuple(utilities),
        shares=tuple(shares),
        frontier=tuple(_points(requirements, configurations, utilities, shares)),
        measure=measure,
        unmasked=unmasked,
        nodes=problem.nodes,
        evaluated=problem.evaluated + len(plan.configurations),
        interrupted=False,
        ignored=problem.ignored,
        records=int(problem.evaluations[0].records.counts.sum()),
        names=named(counted, plan, configurations),
        lost=tuple(each.id for each in plan.configurations if each.id not in found),
        by_label=problem.kept_by_label([[node for node, _ in found.values()][place] for place in order]),
    )


def _measured(
    problem: Problem, counted: CountedTable, plan: Plan, requirements: Sequence[Requirement]
) -> Iterator[tuple[str, tuple[Node, Configuration]]]:
    """Yield the id, the node and the measured privacy of each configuration that still meets its requirement."""
    first, known = problem.evaluations[0], dict(_partitions(counted))
    for each in plan.configurations:
        evaluation = replace(first, require=each.promised or requirements[0].privacy)
        node = _node(first.lattice, each.maskings, known)
        if node is not None and evaluation.holds(node):
            about = (plan, each.maskings, each.id, reported(requirements))
            yield each.id, (node, described(evaluation, node, *about))


def _partitions(counted: CountedTable) -> Iterator[tuple[tuple[str, str], Partition]]:
    """Yield the groups of values of each masking of each attribute."""
    for each in counted.attributes:
        name = each.attribute.name
        yield (name, DROP), Partition(np.zeros(len(each.domain), dtype=np.intp), 1)
        for masking, domain in counted.masked_domains(each).items():
            yield (name, masking), domain.partition()


def _node(lattice: Lattice, maskings: Mapping[str, str], known: Mapping[tuple[str, str], Partition]) -> Node | None:
    """Return the node of these maskings; `None` if a choice of it meets no requirement any more.

    Maskings that group today's values alike are one choice.
    """
    node = []
    for choice in lattice.choices:
        masking = maskings.get(choice.attribute, IDENTITY)  # the label has none
        place = choice.place_of(masking, known.get((choice.attribute, masking)))
        if place is None:
            return None
        node.append(place)
    return tuple(node)


def _points(
    requirements: Sequence[Requirement],
    configurations: Sequence[Configuration],
    utilities: Sequence[float],
    shares: Sequence[float],
) -> Iterator[FrontierPoint]:
    for requirement in requirements:
        meets = (
            place
            for place, each in enumerate(configurations)
            if all(holds(name, each.privacy[name], limit) for name, limit in requirement.privacy.items())
        )
        place = next(meets, None)
        yield FrontierPoint(
            requirement,
            None if place is None else configurations[place],
            np.nan if place is None else utilities[place],
            np.nan if place is None else shares[place],
            minimal=None,
            complete=False,
            at_most_more=None,
        )
