"""The counts of an entry with its label as configurations show it: no finer than what they share.

A masking that is shared beside a masked label only has no counts with the label as it is. In their place are blocks:
pairs of the masking and each masked label beside it, as sums of those counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from aegis_provider.counting.counts import Counts, Partition
from aegis_sdk.wire import DROP, IDENTITY, Attribute, EntryDocument, Pair


def with_shown_labels(entry: EntryDocument) -> EntryDocument:
    """Return the entry without counts of the label as it is that no configuration shares.

    A masking that is not a function of the value keeps its counts, and so do other labels, which are counted with the
    default one as it is.
    """
    if not entry.label.maskings:
        return entry
    views = {one.id: Partition(np.array(one.mapping), len(one.domain)) for one in entry.label.maskings}
    views[IDENTITY] = Partition.identity(len(entry.label.domain))
    changed, pairs = [], list(entry.pairs)
    for attribute in entry.attributes:
        if attribute.name in (entry.labels or ()):
            changed.append(attribute)
            continue
        tables = _Tables.of(attribute, _shown(entry, attribute.name), views)
        changed.append(tables.without_unshown(attribute))
        pairs += tables.blocks(attribute.name, entry.label.name, _base(entry), 1 if entry.labels is None else 2)
    return entry.model_copy(update={"attributes": changed, "pairs": pairs})


def _base(entry: EntryDocument) -> int | None:
    """Return the base of counts that declare nothing, if they were rounded once."""
    control = entry.disclosure_control
    return control.rounded_to if control is not None and control.rounding == "once" else None


def _shown(entry: EntryDocument, attribute: str) -> set[tuple[str, str]]:
    """Return the maskings of an attribute and of the label that configurations share together."""
    label, table = entry.label.name, entry.configuration_table
    shown = {(each.maskings[attribute], each.maskings[label]) for each in entry.masked}
    shown |= set() if table is None else set(zip(table.maskings[attribute], table.maskings[label], strict=True))
    return {each for each in shown if each[0] != DROP}


@dataclass(frozen=True, eq=False)
class _Tables:
    """The tables of an attribute that is shared with the label.

    Attributes:
        joints: The counts (masked values, labels) by masking id.
        values: The grouping of the values, by masking id.
        labels: The grouping of the labels, by masking id.
        shown: The maskings of both that are needed: the counts of all others that are shared follow from these.
    """

    joints: Mapping[str, Counts]
    values: Mapping[str, Partition]
    labels: Mapping[str, Partition]
    shown: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, attribute: Attribute, shared: set[tuple[str, str]], labels: Mapping[str, Partition]) -> "_Tables":
        mapped = [one for one in attribute.maskings if one.mapping is not None and one.rounded_to is None]
        values = {one.id: Partition(np.array(one.mapping), len(one.domain)) for one in mapped}
        values[IDENTITY] = Partition.identity(len(attribute.domain))
        tables = {IDENTITY: attribute.joint, **{one.id: one.joint for one in attribute.maskings}}
        joints = {name: np.array(joint, dtype=np.int64) for name, joint in tables.items() if joint is not None}
        possible = sorted(each for each in shared if each[0] in joints and each[0] in values)
        shown: list[tuple[str, str]] = []
        for each in sorted(possible, key=lambda each: (-labels[each[1]].size, -values[each[0]].size)):  # finest first
            if not any(_follows(each, other, values, labels) for other in shown):
                shown.append(each)
        return cls(joints, values, labels, shown)

    def without_unshown(self, attribute: Attribute) -> Attribute:
        """Return the attribute without counts that are neither shown with the label as it is nor follow from such."""
        whole = [each for each in self.shown if each[1] == IDENTITY]
        finer = [self.values[masking] for masking, _ in whole]
        lost = {name for name, of in self.values.items() if not any(of.follows_from(each) for each in finer)}
        maskings = [one.model_copy(update={"joint": None}) if one.id in lost else one for one in attribute.maskings]
        changed: dict[str, Any] = {"maskings": maskings, **({"joint": None} if IDENTITY in lost else {})}
        return attribute.model_copy(update=changed)

    def blocks(self, attribute: str, label: str, base: int | None, bases: int) -> Iterator[Pair]:
        """Yield the needed counts of a masking and a masked label.

        Args:
            base: The base to which counts were rounded once.
            bases: Sums over groups that nest are off by less than this many of them, those over others by less for each
                of their values, and those over a class for each of its labels.
        """
        nest = all(
            one.follows_from(other) or other.follows_from(one) for one, other in combinations(self.values.values(), 2)
        )
        for masking, shown in (each for each in self.shown if each[1] != IDENTITY):
            classes, values = self.labels[shown], self.values[masking]
            joint = np.zeros((classes.size, values.size), dtype=np.int64)
            np.add.at(joint, classes.groups, self.joints[masking].T)
            crossed = 1 if nest else int(np.bincount(values.groups).max())
            within = bases * crossed * int(np.bincount(classes.groups).max())
            declared: dict[str, Any] = {} if base is None else {"rounded_to": base, "within": within}
            yield Pair(attributes=[attribute, label], maskings=[masking, shown], joint=joint.T.tolist(), **declared)


def _follows(
    one: tuple[str, str],
    other: tuple[str, str],
    values: Mapping[str, Partition],
    labels: Mapping[str, Partition],
) -> bool:
    """Whether the counts of two maskings follow from those of two others."""
    return values[one[0]].follows_from(values[other[0]]) and labels[one[1]].follows_from(labels[other[1]])
