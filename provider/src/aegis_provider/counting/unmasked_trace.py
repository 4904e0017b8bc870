"""What the unmasked table tells by the measure `joint`: one number, to which what configurations keep is compared."""

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Final

import numpy as np

from aegis_advisor.evidence import AttributeEvidence, PairCounts
from aegis_advisor.joint import largest_part, score_jointly
from aegis_provider.counting.coded_table import CodedTable
from aegis_provider.counting.counted_table import CountedAttribute, CountedTable
from aegis_provider.counting.counts import Counts, Partition
from aegis_provider.counting.published_domain import LEAST, merged_values
from aegis_provider.plan.model import IDENTITY
from aegis_provider.table.discretization import Binned

MOST_GROUPS: Final = 100
"""The most values of an attribute that need no reason. More would find the same person again where a table has several
records of one."""

MOST_DIMENSIONS: Final = 2_000
"""The most values of all attributes together, which bounds memory (about 100 MB) and time."""


def unmasked_trace(counted: CountedTable, label: str) -> float:
    """Return Pillai's trace of all unmasked attributes and the label, adjusted for the number of values.

    If the adjustment makes it smaller than that of a single attribute, or than 0, it is that. Rare values are merged,
    as in `whole_values`.

    Args:
        counted: The table.
        label: The name of its label.

    Raises:
        TableError: The table is not the one that was counted.
    """
    views = dict(enumerate(whole_values(counted)))
    views = {place: view for place, view in views.items() if view.size > 1}
    if not views:
        return 0.0
    labels = counted.attributes[0].counts.label_histogram()
    evidence = [_evidence(counted.attributes[place], view, labels) for place, view in views.items()]
    codes, options = np.zeros((1, len(views)), dtype=np.int64), [(IDENTITY,)] * len(views)
    scores = score_jointly(evidence, options, codes, _pairs(counted, label, views), corrected=True)
    return max(float(scores.utility[0]), largest_part(evidence), 0.0)


def whole_values(counted: CountedTable) -> list[Partition]:
    """Return the groups of each attribute's values that count as the unmasked table.

    Rare values are merged, neighbours if they are ordered: finer values tell who somebody is. Groups have at least a
    hundredth of the records, or 20 where they tell more than chance would, and there are at most 2,000 of all
    attributes together. Numbers that the plan discretises are in its bins. Configurations and maskings play no part, so
    that the same table always tells the same.
    """
    groups = min(MOST_GROUPS, MOST_DIMENSIONS // len(counted.attributes))
    least = max(LEAST, math.ceil(counted.records / max(groups, 2)))
    views = [_merged(counted, each, least, LEAST) for each in counted.attributes]
    if sum(view.size for view in views) <= MOST_DIMENSIONS:
        return views
    return [_merged(counted, each, least, least) for each in counted.attributes]


def _merged(counted: CountedTable, one: CountedAttribute, least: int, fewest: int) -> Partition:
    binned = isinstance(counted.table.reading(one.attribute.name), Binned)
    everything = Partition(np.zeros(len(one.domain), dtype=np.intp), 1)
    joint = one.counts.dense()
    return Partition.of(merged_values(one.domain, joint, everything, least, binned=binned, fewest=fewest).groups)


def _evidence(one: CountedAttribute, view: Partition, labels: Counts) -> AttributeEvidence:
    joint = one.counts.fold(view.groups, view.size)
    return AttributeEvidence(one.attribute.name, view.size, labels, None, joint, ())


def _pairs(counted: CountedTable, label: str, views: Mapping[int, Partition]) -> list[PairCounts]:
    """Count every two attributes, which are numbered by their order in `views`."""
    coded = CodedTable.of(counted, label, {place: [view] for place, view in views.items()})
    both = list(combinations(enumerate(views), 2))
    joints = coded.joints([((one, 0), (two, 0)) for (_, one), (_, two) in both])
    return [
        PairCounts((first, second), (IDENTITY, IDENTITY), each)
        for ((first, _), (second, _)), each in zip(both, joints, strict=True)
    ]
