"""What maskings keep of what columns tell about the label: one number for plans, `aegis plan start` and cards."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from aegis_advisor.measures import MEASURES, mutual_information
from aegis_provider.counting.coded_table import CodedTable
from aegis_provider.counting.counted_table import CountedAttribute, CountedTable
from aegis_provider.counting.counts import Counts, Partition
from aegis_provider.plan.model import DROP, IDENTITY, Plan
from aegis_provider.table import Table

_MOST_VALUES: Final = 1 << 10
"""The most values of a column that is compared with others; the pairs of two such columns take 8 MB."""


@dataclass(frozen=True)
class Kept:
    """What a release keeps of a column.

    Attributes:
        kept: The share of its mutual information with the label; `None` if it has none, or if that is not known.
        lost: The rest of its information beyond chance, as a share of the label's entropy; `None` if not known.
    """

    kept: float | None
    lost: float | None


def information_of(counted: CountedAttribute) -> tuple[float, float]:
    """Return the information of the values about the label, and that expected by chance, both in bits."""
    joint = counted.counts.dense().astype(float)
    return mutual_information(joint), MEASURES["mutual_information"].sampling_bias(joint)


def kept_share(masked: Counts, information: float) -> float | None:
    """Return the share of an attribute's information that masked values keep; `None` if it has none.

    Args:
        masked: (masked values, labels) counts.
        information: The information of the unmasked values, in bits.
    """
    return min(1.0, mutual_information(masked.astype(float)) / information) if information > 0 else None


def kept_in(table: Table, plan: Plan, configuration: str) -> dict[str, Kept]:
    """Return what a release keeps of each attribute. Of a copy of a shared one it keeps as much as of that.

    Args:
        table: The unmasked table.
        plan: The plan.
        configuration: The id of its configuration. What masks elsewhere keep is not known.

    Raises:
        TableError: The table cannot be read, or a value cannot be masked.
    """
    counted = CountedTable.of(table, plan)
    maskings = plan.configuration(configuration).maskings
    kept = {
        each.attribute.name: _kept(counted, each, maskings.get(each.attribute.name, IDENTITY), plan.seed)
        for each in counted.attributes
    }
    for copies in _copies(counted, plan.label):
        best = max((kept[name] for name in copies), key=lambda one: -1.0 if one.kept is None else one.kept)
        kept |= dict.fromkeys(copies, best)
    return kept


def _kept(table: CountedTable, counted: CountedAttribute, choice: str, seed: int) -> Kept:
    information, by_chance = information_of(counted)
    if choice in {IDENTITY, DROP}:
        share = float(choice == IDENTITY) if information > 0 else None
    elif (masked := _masked(table, counted, choice, seed)) is None:
        return Kept(None, None)
    else:
        share = kept_share(masked, information)
    beyond, lost = max(0.0, information - max(0.0, by_chance)), 1.0 - (1.0 if share is None else share)
    whole = _entropy(counted.counts.label_histogram())
    return Kept(share, lost * beyond / whole if whole > 0 else 0.0)


def _masked(table: CountedTable, counted: CountedAttribute, choice: str, seed: int) -> Counts | None:
    """Return (masked values, labels) counts; `None` of a masking that was made elsewhere."""
    [masking] = [each for each in counted.attribute.maskings if each.id == choice]
    if masking.is_elsewhere:
        return None
    if masking.is_random:
        return table.draw(counted, masking, seed).joint()
    domain = table.masked_domains(counted)[choice]
    return counted.counts.fold(domain.mapping, len(domain.texts))


def _entropy(records: Counts) -> float:
    """Return the entropy, in bits, of values with these numbers of records."""
    return mutual_information(np.diag(records).astype(float))


def _copies(counted: CountedTable, label: str) -> Iterator[list[str]]:
    """Yield attributes that determine each other value by value, so that one says all that the others do."""
    alike: dict[bytes, list[int]] = {}
    for place, each in enumerate(counted.attributes):
        if 1 < len(each.domain) <= _MOST_VALUES:
            joint = each.counts.dense()
            alike.setdefault(joint[np.lexsort(joint.T)].tobytes(), []).append(place)
    groups = [places for places in alike.values() if len(places) > 1]
    if not groups:
        return
    partitions = {place: [Partition.identity(len(counted.attributes[place].domain))] for of in groups for place in of}
    coded = CodedTable.of(counted, label, partitions)
    for first, *others in groups:
        joints = coded.joints([((first, 0), (other, 0)) for other in others])
        copies = [other for other, joint in zip(others, joints, strict=True) if _is_one_to_one(joint)]
        if copies:
            yield [counted.attributes[place].attribute.name for place in (first, *copies)]


def _is_one_to_one(joint: Counts) -> bool:
    """Return whether each value of either column occurs with one value of the other, given their joint counts."""
    there = joint > 0
    return bool((there.sum(axis=0) == 1).all() and (there.sum(axis=1) == 1).all())
