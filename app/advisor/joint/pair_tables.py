"""Which pair counts are known: those given, and those that follow from finer ones by folding."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from app.advisor.arrays import IntArray, fold
from app.advisor.evidence import AttributeEvidence, PairCounts
from app.advisor.evidence.refinement import coarsening, groups_of, mapping_of

_Table = tuple[str, str, IntArray]
_Folding = tuple[IntArray, int]


@dataclass(frozen=True, slots=True, eq=False)
class PairTables:
    """The pair counts of an entry by their two attributes, the one that comes first in the entry in the rows."""

    evidence: Sequence[AttributeEvidence]
    given: dict[tuple[int, int], list[_Table]]
    _foldings: dict[tuple[int, str, str], _Folding | None] = field(default_factory=dict)

    @classmethod
    def of(cls, evidence: Sequence[AttributeEvidence], pairs: Sequence[PairCounts]) -> Self:
        """Those given."""
        given: dict[tuple[int, int], list[_Table]] = {}
        for pair in pairs:
            (first, second), (masking, other), joint = pair.attributes, pair.maskings, pair.joint
            if first > second:
                first, second, masking, other, joint = second, first, other, masking, joint.T
            given.setdefault((first, second), []).append((masking, other, joint))
        return cls(evidence, given)

    def find(self, first: int, masking: str, second: int, other: str) -> IntArray | None:
        """The joint counts (groups, groups) of two masked attributes, `first` before `second`; None if not known."""
        for finer, finer_other, joint in self.given.get((first, second), ()):
            rows, columns = self._folding(first, finer, masking), self._folding(second, finer_other, other)
            if rows is not None and columns is not None:
                return fold(np.ascontiguousarray(fold(joint, *rows).T), *columns).T
        return None

    def _folding(self, attribute: int, finer: str, coarser: str) -> _Folding | None:
        """How the groups of one masking of an attribute go into those of another; None if they do not."""
        key = (attribute, finer, coarser)
        if key not in self._foldings:
            self._foldings[key] = _folding(self.evidence[attribute], finer, coarser)
        return self._foldings[key]


def _folding(evidence: AttributeEvidence, finer: str, coarser: str) -> _Folding | None:
    groups = groups_of(evidence, coarser)
    if finer == coarser:
        return np.arange(groups), groups
    mapping, target = mapping_of(evidence, finer), mapping_of(evidence, coarser)
    if mapping is None or target is None:
        return None
    found = coarsening(mapping, target, groups_of(evidence, finer))
    return None if found is None else (found, groups)
