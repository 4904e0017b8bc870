"""Made-up rows of a masked table: drawn from published counts along a tree, or each value equally likely."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.evidence import (
    IDENTITY,
    AttributeEvidence,
    EntryContent,
    Masking,
    PairCounts,
    evidence_of,
    masked_records,
    pair_counts,
)
from aegis_advisor.joint.pair_tables import PairTables
from aegis_advisor.measures.information import mutual_information

#: The rows of every preview; fewer are its first ones.
ROWS = 100

#: Exact counts below this are never drawn from.
LEAST = 5

Places = NDArray[np.int64]
Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column of a masked table, with the number of its values."""

    name: str
    masking: str
    values: int


def random_of(seed: str) -> np.random.Generator:
    """The generator of a seed, the same at all times."""
    return np.random.default_rng(int.from_bytes(sha256(seed.encode()).digest()))


def equally_likely(columns: Sequence[ShownColumn], random: np.random.Generator) -> Places:
    """(rows, columns) the places of values, each of which is equally likely."""
    sizes = np.array([column.values for column in columns])
    places: Places = (random.random((ROWS, len(columns))) * sizes).astype(np.int64)
    return places


def drawn_from_counts(entry: EntryContent, columns: Sequence[ShownColumn], random: np.random.Generator) -> Places:
    """(rows, columns) the places of values, drawn from the published counts.

    The label is drawn from its histogram, and each attribute given the earlier column that tells most of it, in bits,
    of those with which it is counted.

    Args:
        entry: an entry with its counts, for readers who may read them.
        columns: the label, and the attributes that are shared.
    """
    counts = _Counts.of(entry, columns)
    drawn: list[Places] = []
    for place in range(len(columns)):
        known = [(at, table) for at in range(place) if (table := counts.together(at, place)) is not None]
        weights = np.tile(counts.alone(place), (ROWS, 1))
        if known:
            parent, table = max(known, key=lambda one: mutual_information(one[1]))
            weights = table[drawn[parent]]
            weights = np.where(weights.any(axis=1, keepdims=True), weights, table.sum(axis=0))
        drawn.append(_chosen(weights, random.random(ROWS)))
    return np.stack(drawn, axis=1)


def _chosen(weights: Weights, shares: Weights) -> Places:
    """(rows,) a place in each row of weights (rows, values), at this share of their sum; any place if all are 0."""
    summed = np.cumsum(np.where(weights.any(axis=1, keepdims=True), weights, 1.0), axis=1)
    places: Places = (summed <= shares[:, np.newaxis] * summed[:, -1:]).sum(axis=1)
    return places


@dataclass(frozen=True, slots=True)
class _Counts:
    """The published counts of some columns, the label first.

    Attributes:
        are_rounded: whether counts that declare nothing were rounded, too.
    """

    columns: Sequence[ShownColumn]
    evidence: Sequence[AttributeEvidence]
    tables: PairTables
    are_rounded: bool

    @classmethod
    def of(cls, entry: EntryContent, columns: Sequence[ShownColumn]) -> Self:
        """The counts of the label and of shared attributes, in this order."""
        place = {attribute.name: at for at, attribute in enumerate(entry.attributes)}
        shared = evidence_of(entry, [place[column.name] for column in columns[1:]])
        evidence = (_of_label(entry), *shared)
        position = {one.name: at for at, one in enumerate(evidence)}
        pairs = [pair for at, one in enumerate(shared, start=1) for pair in _with_label(at, one)]
        pairs += [
            pair_counts(pair, (position[pair.attributes[0]], position[pair.attributes[1]]))
            for pair in entry.pairs
            if pair.joint is not None and position.keys() >= {*pair.attributes}
        ]
        control = entry.disclosure_control
        rounded = control is not None and control.rounded_once is not None
        return cls(columns, evidence, PairTables.of(evidence, pairs), rounded)

    def together(self, first: int, second: int) -> Weights | None:
        """(values, values) the counts of two columns together, without small exact ones; None if not known."""
        declared = self.tables.perturbations.get((first, second), {}).values()
        one, other = self.columns[first], self.columns[second]
        counts = self.tables.estimate(first, one.masking, second, other.masking)
        if counts is None:
            return None
        return self._without_small(counts, is_exact=any(each.is_none for each in declared))

    def alone(self, place: int) -> Weights:
        """(values,) the counts of a column, likewise; each value counts as one if they are not known."""
        evidence, masking = self.evidence[place], self.columns[place].masking
        counts = masked_records(evidence, masking)
        if counts is None:
            return np.ones(self.columns[place].values)
        declared = evidence.label_perturbation if place == 0 else evidence.rounding
        if masking != IDENTITY and evidence.masking(masking).joint is not None:
            declared = evidence.masking(masking).perturbation
        return self._without_small(counts, is_exact=declared.is_none)

    def _without_small(self, counts: NDArray[np.number], *, is_exact: bool) -> Weights:
        least = LEAST if is_exact and not self.are_rounded else 0
        return np.where(counts < least, 0.0, np.maximum(counts, 0.0))


def _of_label(entry: EntryContent) -> AttributeEvidence:
    """The label as an attribute."""
    label = entry.label
    histogram = np.asarray(label.histogram, dtype=np.int64)
    maskings = (
        Masking(one.id, len(one.domain), np.asarray(one.mapping, dtype=np.int64), None, deterministic=True)
        for one in label.maskings
    )
    declared = evidence_of(entry, [0])[0].label_perturbation
    return AttributeEvidence(
        label.name, histogram.size, histogram, histogram, None, tuple(maskings), label_perturbation=declared
    )


def _with_label(place: int, evidence: AttributeEvidence) -> list[PairCounts]:
    """The joint counts of an attribute at a place with the label, at place 0."""
    counted = [(IDENTITY, evidence.joint, evidence.rounding)]
    counted += [(one.id, one.joint, one.perturbation) for one in evidence.maskings]
    return [
        PairCounts((0, place), (IDENTITY, masking), joint.T, declared)
        for masking, joint, declared in counted
        if joint is not None
    ]
