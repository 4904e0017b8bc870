"""What the unmasked table tells by the measure `joint`: one number, to which what configurations keep is compared."""

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any, Final

import numpy as np

from aegis_advisor.evidence import PairCounts, attribute_evidence
from aegis_advisor.joint import largest_part, score_jointly
from aegis_provider.counting.coded_table import CodedTable
from aegis_provider.counting.counted_table import CountedAttribute, CountedTable
from aegis_provider.counting.counts import Partition
from aegis_provider.counting.nested_merging import Values
from aegis_provider.counting.published_domain import merged_values
from aegis_provider.plan.model import IDENTITY
from aegis_provider.table.discretization import Binned

RECORDS_PER_DIMENSION: Final = 10
"""The fewest records for each value of all attributes: with fewer, the adjusted trace is mostly chance."""

MOST_DIMENSIONS: Final = 2_000
"""The most values of all attributes together, which bounds memory (about 100 MB) and time."""


def unmasked_trace(counted: CountedTable, label: str) -> float:
    """Return Pillai's trace of all unmasked attributes and the label, adjusted for the number of values.

    If the adjustment makes it smaller than that of a single attribute, or than 0, it is that. Attributes keep the
    finest values that the table has; numbers that the plan discretises are in its bins. All attributes together may
    have a value for every ten records, and at most 2,000. An attribute with more than its equal part of these has its
    rare values merged: neighbours if they are ordered. Configurations play no part in that, so that the same table
    always tells the same.

    Args:
        counted: The table.
        label: The name of its label.

    Raises:
        TableError: The table is not the one that was counted.
    """
    most = _most_values(counted)
    views = {place: _view(counted, each, most) for place, each in enumerate(counted.attributes)}
    views = {place: view for place, view in views.items() if view.size > 1}
    if not views:
        return 0.0
    histogram = {"histogram": counted.attributes[0].counts.label_histogram()}
    evidence = [
        attribute_evidence(_as_published(counted.attributes[place], view), histogram) for place, view in views.items()
    ]
    codes, options = np.zeros((1, len(views)), dtype=np.int64), [(IDENTITY,)] * len(views)
    scores = score_jointly(evidence, options, codes, _pairs(counted, label, views), corrected=True)
    return max(float(scores.utility[0]), largest_part(evidence))


def _most_values(counted: CountedTable) -> int:
    """How many values an attribute may have; at least two."""
    together = min(counted.records // RECORDS_PER_DIMENSION, MOST_DIMENSIONS)
    return max(2, together // len(counted.attributes))


def _view(counted: CountedTable, one: CountedAttribute, most: int) -> Partition:
    """Return the values of an attribute, merged if they are more than `most`."""
    values = len(one.domain)
    if values <= most:
        return Partition.identity(values)
    binned = isinstance(counted.table.reading(one.attribute.name), Binned)
    ordered = Values.of(one.domain, binned=binned).ordered
    everything = Partition(np.zeros(values, dtype=np.intp), 1)
    histogram = one.counts.histogram()
    return merged_values(one.domain, histogram, everything, math.ceil(counted.records / most), ordered=ordered)


def _as_published(one: CountedAttribute, view: Partition) -> Mapping[str, Any]:
    joint = one.counts.fold(view.groups, view.size)
    return {"name": one.attribute.name, "domain": range(view.size), "joint": joint}


def _pairs(counted: CountedTable, label: str, views: Mapping[int, Partition]) -> list[PairCounts]:
    """Count every two attributes, which are numbered by their order in `views`."""
    coded = CodedTable.of(counted, label, {place: [view] for place, view in views.items()})
    both = list(combinations(enumerate(views), 2))
    cells = coded.counts([((one, 0), (two, 0)) for (_, one), (_, two) in both])
    return [
        PairCounts((first, second), (IDENTITY, IDENTITY), each.joint())
        for ((first, _), (second, _)), each in zip(both, cells, strict=True)
    ]
