"""The known pair counts: those given, and those that follow from finer ones by folding."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.arrays import FloatArray, IntArray, Number, fold
from aegis_advisor.atoms import coarsening
from aegis_advisor.evidence import IDENTITY, AttributeEvidence, PairCounts, Perturbation, masked_records
from aegis_advisor.evidence.perturbation import noise_variance

_Maskings = tuple[str, str]
_Folding = tuple[IntArray, int]


@dataclass(slots=True, eq=False)
class PairTables:
    """The pair counts of an entry by their two attributes.

    Attributes:
        given: the tables by their two attributes, then by their maskings; the attribute that comes first in the entry
            is in the rows.
        perturbations: likewise, the declared differences from the provider's table.
        shared: likewise, the tables in which masked values are counted together, with these counts divided among them.
    """

    evidence: Sequence[AttributeEvidence]
    given: dict[tuple[int, int], dict[_Maskings, IntArray]]
    perturbations: dict[tuple[int, int], dict[_Maskings, Perturbation]]
    shared: dict[tuple[int, int], dict[_Maskings, FloatArray]]
    _foldings: dict[tuple[int, str], dict[str, _Folding]] = field(default_factory=dict)
    _folded: tuple[tuple[int, int, _Maskings, str], IntArray] | None = None

    @classmethod
    def of(cls, evidence: Sequence[AttributeEvidence], pairs: Sequence[PairCounts]) -> Self:
        """Index the given pair counts by their attributes."""
        given: dict[tuple[int, int], dict[_Maskings, IntArray]] = {}
        perturbations: dict[tuple[int, int], dict[_Maskings, Perturbation]] = {}
        shared: dict[tuple[int, int], dict[_Maskings, FloatArray]] = {}
        for pair in pairs:
            (first, second), (masking, other), in_order = pair.attributes, pair.maskings, True
            if first > second:
                first, second, masking, other, in_order = second, first, other, masking, False
            given.setdefault((first, second), {})[masking, other] = pair.joint if in_order else pair.joint.T
            perturbations.setdefault((first, second), {})[masking, other] = pair.perturbation
            if pair.counted_with is not None:
                parts = _shared(pair, pair.counted_with, evidence)
                shared.setdefault((first, second), {})[masking, other] = parts if in_order else parts.T
        return cls(evidence, given, perturbations, shared)

    @property
    def are_exact(self) -> bool:
        """Whether all counts are those of the provider's table."""
        return all(table.is_none for tables in self.perturbations.values() for table in tables.values())

    def find(self, first: int, masking: str, second: int, other: str) -> IntArray | None:
        """The joint counts (groups, groups) of two masked attributes, `first` before `second`; None if not known."""
        finer = self._source(first, masking, second, other)
        if finer is None or finer == (masking, other):
            return None if finer is None else self.given[first, second][finer]
        folded = self._rows_folded(first, second, finer, masking)
        return _columns_folded(folded, self._finer(second, other)[finer[1]])

    def estimate(self, first: int, masking: str, second: int, other: str) -> IntArray | FloatArray | None:
        """The same counts, with those of masked values counted together divided among them: not whole numbers."""
        finer = self._source(first, masking, second, other)
        shared = None if finer is None else self.shared.get((first, second), {}).get(finer)
        if finer is None or shared is None:
            return self.find(first, masking, second, other)
        folded = fold(shared, *self._finer(first, masking)[finer[0]])
        return _columns_folded(folded, self._finer(second, other)[finer[1]])

    def variance(self, first: int, masking: str, second: int, other: str) -> float:
        """The mean variance of these counts.

        A sum of counts has the noise of all. Rounded counts are drawn so that sums which configurations use have the
        error of one rounding; those that preserve published row and column sums have half the variance of independent
        cells (measured by rounding tables of 400 to 10,000 cells).
        """
        finer = self._source(first, masking, second, other)
        if finer is None:
            return 0.0
        declared = self.perturbations[first, second][finer]
        cells = self.evidence[first].groups_of(masking) * self.evidence[second].groups_of(other)
        noise = 0.0 if declared.noise_scale is None else noise_variance(declared.noise_scale)
        rounding, added = declared.count_variance - noise, self.given[first, second][finer].size / cells
        return noise * added + rounding * (1.0 if declared.within is None else max(1.0, added / 2))

    def _source(self, first: int, masking: str, second: int, other: str) -> _Maskings | None:
        """The maskings of a given table that these counts equal or can be folded from; None if there is none."""
        tables = self.given.get((first, second), {})
        if (masking, other) in tables:
            return masking, other
        rows, columns = self._finer(first, masking), self._finer(second, other)
        # The search is among the given tables or the finer pairs of maskings, whichever are fewer.
        shorter = iter(tables) if len(tables) <= len(rows) * len(columns) else product(rows, columns)
        candidates = (finer for finer in shorter if finer in tables and finer[0] in rows and finer[1] in columns)
        return next(candidates, None)

    def _rows_folded(self, first: int, second: int, finer: _Maskings, masking: str) -> IntArray:
        """A table with its rows folded; the last one is cached, since the next call often repeats it."""
        key = first, second, finer, masking
        if self._folded is None or self._folded[0] != key:
            self._folded = key, fold(self.given[first, second][finer], *self._finer(first, masking)[finer[0]])
        return self._folded[1]

    def _finer(self, attribute: int, masking: str) -> dict[str, _Folding]:
        """How the groups of each masking that refines this one, including itself, fold into its groups."""
        key = attribute, masking
        if key not in self._foldings:
            evidence = self.evidence[attribute]
            every = (IDENTITY, *(one.id for one in evidence.maskings))
            foldings = {finer: _folding(evidence, finer, masking) for finer in every}
            self._foldings[key] = {finer: folding for finer, folding in foldings.items() if folding is not None}
        return self._foldings[key]


def _columns_folded(table: NDArray[Number], folding: _Folding) -> NDArray[Number]:
    return fold(np.ascontiguousarray(table.T), *folding).T


def _shared(
    pair: PairCounts, counted_with: tuple[IntArray, IntArray], evidence: Sequence[AttributeEvidence]
) -> FloatArray:
    """(groups, groups) the pair counts, divided among the values of a place in proportion to their records."""
    rows, columns = (
        _shares(places, masked_records(evidence[attribute], masking))
        for places, attribute, masking in zip(counted_with, pair.attributes, pair.maskings, strict=True)
    )
    return np.asarray(pair.joint[np.ix_(*counted_with)] * rows[:, np.newaxis] * columns)


def _shares(places: IntArray, records: IntArray | None) -> FloatArray:
    """(groups,) the share of each masked value in the records that are counted at its place (groups,)."""
    known = np.ones(places.size) if records is None else np.maximum(records, 0).astype(np.float64)
    own = np.where(np.bincount(places, known, places.size)[places] > 0, known, 1.0)
    return own / np.bincount(places, own, places.size)[places]


def _folding(evidence: AttributeEvidence, finer: str, coarser: str) -> _Folding | None:
    """How the groups of one masking of an attribute fold into those of another; None if they do not."""
    groups = evidence.groups_of(coarser)
    if finer == coarser:
        return np.arange(groups), groups
    mapping, target = evidence.mapping_of(finer), evidence.mapping_of(coarser)
    if mapping is None or target is None:
        return None
    outer = coarsening(mapping, target, evidence.groups_of(finer))
    return None if outer is None else (outer, groups)
