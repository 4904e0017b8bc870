"""Coarser bins of labels that are numbers: a search shows labels so where no masking of attributes is enough."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice, product
from typing import Final

import numpy as np

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import Partition, Places
from aegis_provider.counting.label_scores import numbers_by_label
from aegis_provider.plan.model import IDENTITY, Plan
from aegis_provider.search.evaluation import Evaluation
from aegis_provider.search.problem import Requirement, evaluation_of
from aegis_sdk.reading import some

_MOST_TRIED: Final = 1_000


def shown_coarsely(counted: CountedTable, plan: Plan, requirement: Requirement) -> tuple[CountedTable, Plan]:
    """Return the table and the plan, labels as fine as the requirement allows with the coarsest masking of attributes.

    Only `k` and `l` decide, and only labels in bins with maskings become coarser. Of choices of which none is finer
    than another, the one whose bins keep the largest share of the labels' variance, on average, is taken: no model can
    reach more of a number than its bins tell. If none is enough, or the plan's own one is, the plan is unchanged.

    Raises:
        PlanError: The search cannot evaluate a default, or scores do not fit the label's values.
        TableError: As in `CountedTable.of`.
    """
    choices = dict(_choices(counted, plan))
    if not choices:
        return counted, plan
    evaluation = evaluation_of(counted, plan, requirement)
    if _may_hold(evaluation, {}):
        return counted, plan
    kept = {label: _kept(counted, plan, label, each) for label, each in choices.items()}
    every = [dict(zip(choices, each, strict=True)) for each in islice(product(*choices.values()), _MOST_TRIED)]
    every.sort(key=lambda chosen: -sum(kept[label][choice] for label, choice in chosen.items()))
    for chosen in every:
        if _may_hold(evaluation, {label: choices[label][choice].groups for label, choice in chosen.items()}):
            return with_labels_as(counted, plan, chosen)
    return counted, plan


def _kept(counted: CountedTable, plan: Plan, label: str, choices: Mapping[str, Partition]) -> dict[str, float]:
    """Return the share of the variance of a label's scores that is between the groups of each choice."""
    scores, default = numbers_by_label(counted, plan)[label], counted.attributes[0].counts.label_histogram()
    weights = default if label == plan.label else counted.attribute(label).counts.histogram()
    apart = scores - np.average(scores, weights=weights)
    whole = float(weights @ apart**2)
    between = {}
    for choice, of in choices.items():
        sums, sizes = (np.bincount(of.groups, each, of.size) for each in (weights * apart, weights))
        between[choice] = float(np.sum(sums**2 / np.maximum(sizes, 1)))
    return {choice: each / whole if whole > 0 else 1.0 for choice, each in between.items()}


def with_labels_as(counted: CountedTable, plan: Plan, choices: Mapping[str, str]) -> tuple[CountedTable, Plan]:
    """Return the table and the plan that show labels by these choices; others as before."""
    plan = plan.changed(lambda each: replace(each, default=choices.get(each.name, each.default)))
    defaults = {each.name: each.default for each in plan.attributes}
    attributes = (
        replace(each, attribute=replace(each.attribute, default=defaults[each.attribute.name]))
        for each in counted.attributes
    )
    return replace(counted, attributes=tuple(attributes)), plan


def _choices(counted: CountedTable, plan: Plan) -> Iterator[tuple[str, Mapping[str, Partition]]]:
    """Yield each label in bins that a plan shows as it is and a search does not mask, with its choices."""
    for each in counted.chosen(plan):
        name = each.attribute.name
        is_number = name in plan.labels and name in plan.binned and name not in plan.quasi_identifiers
        if is_number and each.attribute.default == IDENTITY and each.attribute.maskings:
            masked = {masking: domain.partition() for masking, domain in counted.masked_domains(each).items()}
            yield name, {IDENTITY: Partition.identity(len(each.domain)), **masked}


def _may_hold(evaluation: Evaluation, groups: Mapping[str, Places]) -> bool:
    """Return whether the coarsest masking of all attributes has the required `k` and `l`, with labels in groups."""
    shown = replace(evaluation, masked={**evaluation.masked, **groups})
    return any(shown.holds_counts(top) for top in shown.lattice.tops)


def bins_that_help(evaluation: Evaluation, plan: Plan) -> str:
    """Return what to do if two bins of each label that is a number without maskings would be enough; else nothing."""
    bare = [each.name for each in plan.every if each.name in plan.labels and each.discretization and not each.maskings]
    sizes = dict(zip(evaluation.records.columns, map(len, evaluation.records.domains), strict=True))
    groups = {name: np.arange(sizes[name]) * 2 // sizes[name] for name in bare if name in sizes}
    if not groups or not _may_hold(evaluation, groups):
        return ""
    return f"; or let releases show coarser bins of {some(list(groups), 5)}: state `maskings` of it under `attributes`"
