"""Which requirement gives way if a table cannot meet all of them together."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, floor
from typing import TypeAlias

import numpy as np

from aegis_provider.counting.counts import Partition
from aegis_provider.plan.model import DROP, Plan
from aegis_provider.privacy import CRITERIA, measure_worst, promises_nothing
from aegis_provider.search.coarser_labels import bins_that_help
from aegis_provider.search.evaluation import Evaluation
from aegis_provider.search.lattice import Choices, Lattice, Node
from aegis_provider.search.problem import Requirement
from aegis_sdk.reading import Share, number, some

Way: TypeAlias = tuple[float, str, str]
"""How much stays as it is, from 0 to 1; what gives way; and what holds then, in words."""

_DECIMALS = 10_000
_TENTHS = 1000
_NAMES = 5


def nothing_meets(evaluation: Evaluation, required: Sequence[Requirement], plan: Plan, measured: Sequence[str]) -> str:
    """Return the message that nothing meets a requirement, with privacy (`measured`) of the coarsest combination."""
    coarsest, records = evaluation.lattice.tops[0], int(evaluation.records.counts.sum())
    reached = measure_worst(evaluation.classes(coarsest), measured)
    broken = evaluation.left_out(coarsest)
    values = ", ".join(f"{name}={value:g}" for name, value in reached.items())
    others = f", nor any of the {len(required) - 1} other requirements" if len(required) > 1 else ""
    return (
        f"{plan.source}: no configuration meets {required[0].described()}{others}; with the coarsest masking of every "
        f"attribute, {values}, and {broken} of {records} records would be suppressed; "
        f"{what_gives_way(evaluation, required[0], plan)}{bins_that_help(evaluation, plan)}"
    )


def what_gives_way(evaluation: Evaluation, requirement: Requirement, plan: Plan) -> str:
    """Return why requirements cannot hold together, and what each would have to be if only it gave way.

    First the one that changes least: the smaller of its two values, as a share of the larger one, is the highest; to
    drop what is kept changes all. They are found at the coarsest combination of maskings that the plan allows, which
    leaves out the fewest records if privacy is `k` or `l`: `with race kept, k=5 and at most 1 % left out cannot hold
    together; k gives way first: k=3 holds with 0.9 %, or 4 % would have to be left out`.
    """
    coarsest, out = _coarsest(evaluation)
    records = int(evaluation.records.counts.sum())
    asked = [f"{name}={number(limit, 6)}" for name, limit in requirement.privacy.items()]
    asked.append(f"at most {Share(requirement.suppress_at_most)} left out")
    kept = [attribute.name for attribute in plan.attributes if attribute.limits.is_kept]
    ways = list(_weaker(evaluation, coarsest))
    if out < records:
        same, said = requirement.suppress_at_most * records / out, f"{_share(out, records)} would have to be left out"
        ways.append((same, "the share left out", said))
    ways += _without(evaluation, [[name] for name in kept]) or _without(evaluation, [kept] if len(kept) > 1 else [])
    ways.sort(key=lambda way: -way[0])
    given = f"with {some(kept, _NAMES)} kept, " if kept else ""
    return f"{given}{' and '.join(asked)} cannot hold together; {_in_order(ways)}"


def _in_order(ways: Sequence[Way]) -> str:
    if not ways:
        return "no single one can give way"
    _, first, _ = ways[0]
    which = f"{first} gives way first" if len(ways) > 1 else f"only {first} can give way"
    return f"{which}: {', or '.join(said for _, _, said in ways)}"


def _coarsest(evaluation: Evaluation) -> tuple[Node, int]:
    """Return the coarsest combination that leaves out the fewest records, and how many these are."""
    tops = evaluation.lattice.tops
    outs = [evaluation.left_out(top) for top in tops]
    best = outs.index(min(outs))
    return tops[best], outs[best]


def _share(out: int, records: int) -> Share:
    """Return a share of the records, rounded up to a tenth of a percent, so that it is enough."""
    return Share(ceil(_TENTHS * out / records) / _TENTHS)


def _weaker(evaluation: Evaluation, node: Node) -> Iterator[Way]:
    """Yield for each criterion the strictest value that holds at a node if the others stay as they are."""
    attacks, records = evaluation.classes(node), int(evaluation.records.counts.sum())
    for name, criterion in ((name, CRITERIA[name]) for name in evaluation.require):
        if not all(map(criterion.shows_in, attacks)):
            continue
        reached = {value for classes in attacks for value in criterion.by_class(classes).tolist()}
        values = sorted(reached, reverse=not criterion.at_least)
        low, high = 0, len(values)  # from the weakest on; those below `low` hold
        while low < high:
            middle = (low + high) // 2
            wanted = {**evaluation.require, name: values[middle]}
            holds = evaluation.left_out(node, wanted) <= evaluation.suppressed
            low, high = (middle + 1, high) if holds else (low, middle)
        if low and not promises_nothing(name, values[low - 1]):
            limit = (floor if criterion.at_least else ceil)(values[low - 1] * _DECIMALS) / _DECIMALS
            out = evaluation.left_out(node, {**evaluation.require, name: values[low - 1]})
            both = sorted((values[low - 1], evaluation.require[name]))
            yield both[0] / both[1], name, f"{name}={number(limit, 6)} holds with {_share(out, records)}"


def _without(evaluation: Evaluation, dropped: Sequence[Sequence[str]]) -> list[Way]:
    """Return which of some groups of attributes make the requirement hold if they are not kept."""
    ways, records = [], int(evaluation.records.counts.sum())
    for names in dropped:
        choices = (_dropped(each) if each.attribute in names else each for each in evaluation.lattice.choices)
        _, out = _coarsest(replace(evaluation, lattice=Lattice(tuple(choices))))
        if out <= evaluation.suppressed:
            what = some(names, _NAMES)
            ways.append((0.0, what, f"all else holds with {_share(out, records)} if {what} may be dropped"))
    return ways


def _dropped(choices: Choices) -> Choices:
    return Choices.of(choices.attribute, {DROP: Partition(np.zeros_like(choices.partitions[0].groups), 1)})
