"""What is attacked: an entry whose counts nobody but its provider may learn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_advisor.atoms import common_refinement
from aegis_advisor.evidence import DROP, AttributeEvidence, evidence_of
from app.advice.service.coarse import Grid
from app.entries.model.documents import Document, entry_in


@dataclass(frozen=True, eq=False)
class HiddenAttribute:
    """One attribute, its counts by groups of values that no masking tells apart.

    Attributes:
        evidence: as the service has it, possibly rounded or with noise.
        group_of_value: (values,) the group of each value, which the entry's schema tells.
        counts: (groups, labels) the true counts; every masking's joint counts are sums of rows.
        histogram: (values,) the true counts.
        maskings: by id (masked values, groups), 1 where a group is a part of a masked value.
    """

    evidence: AttributeEvidence
    group_of_value: IntArray
    counts: IntArray
    histogram: IntArray
    maskings: Mapping[str, IntArray]

    @classmethod
    def of(cls, evidence: AttributeEvidence, unmasked: IntArray) -> Self:
        """An attribute whose unmasked counts (values, labels) are known to the bench, and to nobody else."""
        mappings = {one.id: one.mapping for one in evidence.maskings if one.mapping is not None}
        group_of_value = common_refinement(list(mappings.values()), evidence.values).astype(np.int64)
        groups = int(group_of_value.max()) + 1
        counts = np.zeros((groups, unmasked.shape[1]), dtype=np.int64)
        np.add.at(counts, group_of_value, unmasked)
        maskings = {name: _parts(mapping, group_of_value, groups) for name, mapping in mappings.items()}
        return cls(evidence, group_of_value, counts, unmasked.sum(axis=1), maskings)

    @property
    def has_finest(self) -> bool:
        """Whether a masking tells all groups apart."""
        return any(len(parts) == len(self.counts) for parts in self.maskings.values())


def _parts(mapping: IntArray, group_of_value: IntArray, groups: int) -> IntArray:
    parts = np.zeros((int(mapping.max()) + 1, groups), dtype=np.int64)
    parts[mapping, group_of_value] = 1
    return parts


@dataclass(frozen=True, eq=False)
class Target:
    """An entry under attack.

    Attributes:
        attributes: what is hidden of each.
        options: by attribute the masking ids that configurations use, and `drop`.
        codes: (configurations, attributes) indices into `options`.
    """

    attributes: Sequence[HiddenAttribute]
    options: Sequence[tuple[str, ...]]
    codes: IntArray

    @property
    def grid(self) -> Grid:
        """What the service rounds deviations to."""
        return Grid.of(int(self.attributes[0].counts.sum()))

    @classmethod
    def of(cls, entry: Document, unmasked: Sequence[IntArray]) -> Self:
        """An entry in the contract's form, and the true joint counts (values, labels) of its attributes."""
        evidence = evidence_of(entry_in(entry))
        hidden = [HiddenAttribute.of(one, counts) for one, counts in zip(evidence, unmasked, strict=True)]
        options = [(DROP, *one.maskings) for one in hidden]
        codes = [
            [each.index(row["maskings"][one.evidence.name]) for one, each in zip(hidden, options, strict=True)]
            for row in entry["configurations"]
        ]
        return cls(hidden, options, np.array(codes, dtype=np.int64))
