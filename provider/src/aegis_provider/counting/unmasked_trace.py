"""The measure `joint` of the unmasked table: one number, the reference for the utility of configurations."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from types import MappingProxyType
from typing import Final

import numpy as np
import scipy

from aegis_advisor.arrays import FloatArray
from aegis_advisor.evidence import AttributeEvidence, PairCounts
from aegis_advisor.joint import largest_part, score_jointly
from aegis_advisor.measures.numbers import standardised
from aegis_provider.counting.coded_table import LABEL, CodedTable
from aegis_provider.counting.counted_table import LEAST, CountedAttribute, CountedTable
from aegis_provider.counting.counts import Counts, Partition
from aegis_provider.counting.published_domain import merged_values
from aegis_provider.plan.model import IDENTITY
from aegis_provider.table.discretization import Binned

MOST_GROUPS: Final = 100
"""The most values of an attribute without extra information. More would identify the same person in several records."""

MOST_DIMENSIONS: Final = 2_000
"""The most values of all attributes together, which bounds memory (about 100 MB) and time."""


_RIDGE: Final = 1e-9
"""Added to the variances of indicators, so that the regression exists where attributes determine each other."""


@dataclass(frozen=True)
class UnmaskedTrace:
    """The trace of the unmasked table, and the contributions of single counts.

    Attributes:
        value: The adjusted trace.
        slope: Its largest change if two records of an attribute's groups exchange their label values.
        spread: Its standard deviation if every count of a group with a label value has a standard deviation of one
            record, except the count with the largest effect.
        numbers: (labels,) The scores of the label, of which it is `R^2`, if it has some.
    """

    value: float
    slope: float = 0.0
    spread: float = 0.0
    numbers: FloatArray | None = None


def unmasked_trace(counted: CountedTable, label: str) -> UnmaskedTrace:
    """Return Pillai's trace of all unmasked attributes and the label, adjusted for the number of values.

    It is at least that of each single attribute, and at least 0. Rare values are merged, as in `whole_values`.

    Raises:
        TableError: The table has changed since it was counted.
    """
    [trace] = unmasked_traces(counted, {label: counted})
    return trace


def unmasked_traces(
    counted: CountedTable, tasks: Mapping[str, CountedTable], scores: Mapping[str, FloatArray] = MappingProxyType({})
) -> list[UnmaskedTrace]:
    """Return the trace of each label, by one reading of the table.

    Args:
        counted: The table, counted against the default label.
        tasks: The table of each label, the default one first (`label_tasks`).
        scores: (labels,) The scores of each label that has some; the trace is then `R^2` of these.

    Raises:
        TableError: The table has changed since it was counted.
    """
    default = next(iter(tasks))
    views = [{place: view for place, view in enumerate(whole_values(task)) if view.size > 1} for task in tasks.values()]
    places = {one.attribute.name: place for place, one in enumerate(counted.attributes)}
    partitions: dict[int, list[Partition]] = {LABEL: [Partition.identity(len(counted.label))]}
    columns = []  # by task, of each of its views
    for task, each in zip(tasks.values(), views, strict=True):
        names = {place: task.attributes[place].attribute.name for place in each}
        known = {place: LABEL if name == default else places[name] for place, name in names.items()}
        for place, view in each.items():
            partitions.setdefault(known[place], []).append(view)
        columns.append([(known[place], len(partitions[known[place]]) - 1) for place in each])
    coded = CodedTable.of(counted, default, partitions)
    joints = coded.joints([two for of in columns for two in combinations(of, 2)])
    pairs = [
        [PairCounts(both, (IDENTITY, IDENTITY), next(joints)) for both in combinations(range(len(of)), 2)]
        for of in columns
    ]
    every = zip(tasks.items(), views, pairs, strict=True)
    return [_trace(task, shown, counts, scores.get(label)) for (label, task), shown, counts in every]


def _trace(
    counted: CountedTable, views: Mapping[int, Partition], pairs: Sequence[PairCounts], numbers: FloatArray | None
) -> UnmaskedTrace:
    """Return the trace of these views, whose pairs have their places among them."""
    if not views:
        return UnmaskedTrace(0.0)
    labels = counted.attributes[0].counts.label_histogram()
    evidence = []
    for place, view in views.items():
        attribute = counted.attributes[place]
        joint = attribute.counts.fold(view.groups, view.size)
        name = attribute.attribute.name
        evidence.append(AttributeEvidence(name, view.size, labels, None, joint, (), label_scores=numbers))
    codes, options = np.zeros((1, len(views)), dtype=np.int64), [(IDENTITY,)] * len(views)
    scores = score_jointly(evidence, options, codes, pairs, corrected=True, numbers=numbers)
    value = max(float(scores.utility[0]), largest_part(evidence), 0.0)
    joints = [np.asarray(attribute.joint, dtype=np.float64) for attribute in evidence]
    return UnmaskedTrace(value, largest_slope(joints, numbers), _spread(joints, pairs, numbers), numbers)


def largest_slope(joints: Iterable[FloatArray | Counts], numbers: FloatArray | None = None) -> float:
    """Return the largest change of a trace if two records of different groups exchange their label values.

    A label value with `m` records, `x` of them in a group of `n`, adds `x**2 / (m n)`, whose slope is `2 x / (m n)`.
    A record with the standardised score `z` adds to the mean `z_a` of its group, and so to `R^2` of `N` records
    `2 z_a z / N`.

    Args:
        joints: By attribute or masking, counts (groups, labels).
        numbers: (labels,) The scores of the label, if it has some.
    """
    largest = 0.0
    for joint in joints:
        if numbers is not None:
            score = standardised(joint.sum(axis=0).astype(np.float64), numbers)
            means = joint @ score / np.maximum(joint.sum(axis=1), 1)
            largest = max(largest, float(2 * np.ptp(means) * np.ptp(score) / max(joint.sum(), 1)))
            continue
        shares = (joint + 0.5) / np.maximum(joint.sum(axis=1, keepdims=True), 1)
        moves = 2 * np.ptp(shares, axis=0) / np.maximum(joint.sum(axis=0), 1)
        largest = max(largest, float(np.sort(moves)[-2:].sum()))
    return largest


def _spread(joints: Sequence[FloatArray], pairs: Sequence[PairCounts], numbers: FloatArray | None) -> float:
    """The trace's derivatives by counts with the label are twice the regression's coefficients over label counts.

    Those of `R^2` are twice the coefficients of the standardised scores times the score, over all records.
    """
    labels, coefficients = joints[0].sum(axis=0), _coefficients(joints, pairs)
    slopes = 2 * coefficients / np.maximum(labels, 1)
    if numbers is not None:
        score = standardised(labels, numbers)
        slopes = 2 * np.outer(coefficients @ score, score) / max(labels.sum(), 1.0)
    moves = np.split(slopes, list(accumulate(map(len, joints)))[:-1])
    centred = [move - move.mean(axis=0) - move.mean(axis=1, keepdims=True) + move.mean() for move in moves]
    squares = np.concatenate([np.square(each).ravel() for each in centred])
    return math.sqrt(max(squares.sum() - squares.max(), 0.0))


def _coefficients(joints: Sequence[FloatArray], pairs: Sequence[PairCounts]) -> FloatArray:
    """(groups, labels) The coefficients of a linear regression of the labels' indicators on those of all groups."""
    starts = [0, *accumulate(map(len, joints))]
    together = np.zeros((starts[-1], starts[-1]))
    for start, joint in zip(starts, joints, strict=False):
        together[range(start, start + len(joint)), range(start, start + len(joint))] = joint.sum(axis=1)
    for pair in pairs:
        one, two = (slice(starts[place], starts[place + 1]) for place in pair.attributes)
        together[one, two], together[two, one] = pair.joint, pair.joint.T
    by_label, groups = np.concatenate(joints), together.diagonal()
    records, labels = joints[0].sum(), joints[0].sum(axis=0)
    covariances = together / records - np.outer(groups, groups) / records**2
    covariances[np.diag_indices_from(covariances)] += _RIDGE
    with_label = by_label / records - np.outer(groups, labels) / records**2
    coefficients: FloatArray = scipy.linalg.solve(covariances, with_label, assume_a="pos")
    return coefficients


def whole_values(counted: CountedTable) -> list[Partition]:
    """Return the groups of each attribute's values that define the unmasked table.

    Rare values are merged, with neighbours if they are ordered: finer values identify people. Groups have at least a
    hundredth of the records, or those of 20 people where they beat chance, and there are at most 2,000 of all
    attributes together. Numbers that the plan discretises are in its bins. Configurations and maskings play no part, so
    that the result is always the same for a table.
    """
    groups = min(MOST_GROUPS, MOST_DIMENSIONS // len(counted.attributes))
    fewest = LEAST * counted.rows
    least = max(fewest, math.ceil(counted.records / max(groups, 2)))
    views = [_merged(counted, attribute, least, fewest) for attribute in counted.attributes]
    if sum(view.size for view in views) <= MOST_DIMENSIONS:
        return views
    return [_merged(counted, attribute, least, least) for attribute in counted.attributes]


def _merged(counted: CountedTable, one: CountedAttribute, least: int, fewest: int) -> Partition:
    binned = isinstance(counted.table.reading(one.attribute.name), Binned)
    everything = Partition(np.zeros(len(one.domain), dtype=np.intp), 1)
    joint = one.counts.dense()
    return Partition.of(merged_values(one.domain, joint, everything, least, binned=binned, fewest=fewest).groups)
