"""A table and a plan as a search sees them: requirements to evaluate, and the utility of what meets them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import floor

from aegis_advisor.measures import TIE_BREAK, Measure
from aegis_provider.counting.counted_table import CountedTable, DistinctRecords
from aegis_provider.counting.counts import Partition
from aegis_provider.counting.unmasked_trace import whole_values
from aegis_provider.plan.model import DROP, IDENTITY, Plan
from aegis_provider.search.evaluation import Evaluation
from aegis_provider.search.lattice import Choices, Lattice
from aegis_provider.search.lattice_of_plan import lattice_of, masked_always, unsearched
from aegis_provider.search.requirement import Requirement
from aegis_provider.search.utility import MOST_COLUMNS, MeanUtility, Utility, UtilityCounts


@dataclass(frozen=True, eq=False)
class Problem:
    """What a search is about.

    Attributes:
        evaluations: For each requirement, its evaluation for the nodes of a lattice. The lattice lacks choices that
            meet no requirement, whatever the other attributes' choices are.
        utility: The utility of nodes.
        information: Their mutual information with the label, as a mean over the attributes: it decides between equals.
        unmasked: The utility of the unmasked table, its values in groups.
        nodes: The number of combinations of all choices.
        evaluated: How many evaluations it took to find the choices.
        ignored: By attribute, the choices that take no part because they have too many masked values.
    """

    evaluations: Sequence[Evaluation]
    utility: Utility
    information: MeanUtility
    unmasked: float
    nodes: int
    evaluated: int
    ignored: Mapping[str, tuple[str, ...]]

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

        Args:
            counted: The counted table.
            plan: Its plan.
            requirements: What is required of all its records.
            measure: The measure of utility.
            told: The records that utility is measured on, with at least the plan's attributes and the label as columns;
                without them, all records of the table.

        Raises:
            PlanError: The search cannot evaluate a default.
            TableError: As in `CountedTable.of`.
        """
        first = evaluation_of(counted, plan, requirements[0])
        every = [_required(first, each, counted.records) for each in requirements]
        possible, evaluated = _possible(every)
        choices, others, ignored = _comparable(possible, unsearched(counted, plan), measure)
        names = [each.attribute for each in choices if each.attribute != plan.label]
        records = told or DistinctRecords.of(counted, [*names, *others, plan.label])
        whole = dict(zip([each.attribute.name for each in counted.attributes], whole_values(counted), strict=True))
        counts = UtilityCounts(records, plan.label, choices, others, whole)
        lattice = Lattice(choices)
        return cls(
            [replace(each, lattice=lattice) for each in every],
            counts.utility(measure),
            counts.mean(TIE_BREAK),
            counts.unmasked(measure),
            first.lattice.nodes,
            evaluated,
            ignored,
        )


def evaluation_of(counted: CountedTable, plan: Plan, requirement: Requirement) -> Evaluation:
    """Return the evaluation of the requirement on the counted table and the lattice of the plan's maskings.

    Raises:
        PlanError: The search cannot evaluate a default.
        TableError: As in `CountedTable.of`.
    """
    lattice = lattice_of(counted, plan)
    names = [each.attribute for each in lattice.choices]
    masked = dict(masked_always(counted, plan))
    dropped = {each.name for each in plan.attributes if each.kept_as == DROP}
    sensitive = tuple(name for name in plan.sensitive if name not in dropped)
    records = DistinctRecords.of(counted, [*names, *sensitive])
    return _required(Evaluation(lattice, records, sensitive, {}, 0, masked), requirement, counted.records)


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
        kept = []
        for place in range(len(each) - 1):
            node = (*lattice.top[:axis], place, *lattice.top[axis + 1 :])
            evaluated += len(evaluations)
            if any(one.holds_counts(node) for one in evaluations):
                kept.append(place)
        chosen.append(_only(each, [*kept, len(each) - 1]))
    return tuple(chosen), evaluated


def _only(choices: Choices, places: Sequence[int]) -> Choices:
    kept = ((choices.ids[place], choices.partitions[place], choices.listed[place]) for place in places)
    return Choices(choices.attribute, *zip(*kept, strict=True))


def _comparable(
    choices: Sequence[Choices], others: Mapping[str, Partition], measure: Measure
) -> tuple[tuple[Choices, ...], dict[str, Partition], dict[str, tuple[str, ...]]]:
    """Leave out what has the most masked values until a joint measure can compare the rest.

    Returns:
        The choices and the other attributes that are left, and by attribute the choices that were left out.
    """
    searched = {each.attribute: each for each in choices}
    rest, ignored = dict(others), dict[str, tuple[str, ...]]()
    while measure.is_joint and _columns(searched.values(), rest.values()) > MOST_COLUMNS:
        sizes = {name: each.listed[0].size for name, each in searched.items() if len(each) > 1}
        sizes |= {name: each.size for name, each in rest.items()}
        largest = max(sizes, key=sizes.__getitem__)
        if rest.pop(largest, None) is not None:
            ignored[largest] = (IDENTITY,)
        else:
            each = searched[largest]
            ignored[largest] = (*ignored.get(largest, ()), each.ids[0])
            searched[largest] = _only(each, range(1, len(each)))
    return tuple(searched.values()), rest, ignored


def _columns(choices: Iterable[Choices], others: Iterable[Partition]) -> int:
    return sum(part.size for each in choices for part in each.listed) + sum(each.size for each in others)
