"""The correlations that configurations are made of: of all maskings with each other and with the label."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np

from app.advisor.arrays import FloatArray, IntArray
from app.advisor.blocks import Codes
from app.advisor.deviation import DROP, IDENTITY, masking_named
from app.advisor.errors import MissingCountsError, MissingPairsError, TooManyColumnsError
from app.advisor.evidence import AttributeEvidence, PairCounts
from app.advisor.joint.bases import Basis, correlations
from app.advisor.joint.pair_tables import PairTables
from app.advisor.views import determined_counts

MOST_COLUMNS = 12_000
"""Dimensions of all maskings together; their correlations take 1.2 GB then."""


@dataclass(frozen=True, slots=True, eq=False)
class Masked:
    """A masking that a configuration uses: its id, its joint counts (groups, labels) with the label, and its basis."""

    id: str
    basis: Basis
    joint: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """What the trace of every configuration is made of, computed once for all of them.

    Attributes:
        columns: per attribute and code, the columns of the masking in `correlations`; none for those that tell nothing.
        correlations: (columns, columns); two maskings that no configuration uses together have zeros.
        labels: (columns, dimensions of the label).
    """

    columns: tuple[tuple[IntArray, ...], ...]
    correlations: FloatArray
    labels: FloatArray

    @classmethod
    def of(
        cls,
        evidence: Sequence[AttributeEvidence],
        options: Sequence[tuple[str, ...]],
        codes: Codes,
        pairs: Sequence[PairCounts],
    ) -> Self:
        """The design of configurations with these codes (configurations, attributes).

        Raises:
            MissingCountsError: a masking that is used has no exact joint counts with the label.
            MissingPairsError: the counts of two maskings that are used together are not known.
            TooManyColumnsError: the maskings have more than `MOST_COLUMNS` dimensions.
        """
        used = [np.bincount(column, minlength=len(names)) > 0 for column, names in zip(codes.T, options, strict=True)]
        masked = [
            [_masked(known, name) if is_used else None for name, is_used in zip(names, flags, strict=True)]
            for known, names, flags in zip(evidence, options, used, strict=True)
        ]
        columns, size = _number([[0 if one is None else one.basis.size for one in each] for each in masked])
        if size > MOST_COLUMNS:
            raise TooManyColumnsError(size, MOST_COLUMNS)
        label = Basis.of(evidence[0].label_histogram)
        labels = np.zeros((size, label.size))
        for one, place in _placed(masked, columns):
            labels[place] = correlations(one.joint, one.basis, label)
        return cls(columns, _correlations(PairTables.of(evidence, pairs), masked, columns, codes, size), labels)


def _masked(evidence: AttributeEvidence, option: str) -> Masked | None:
    """None where all records have one masked value: such a masking has no dimension."""
    if option == DROP:
        return None
    joint = evidence.joint if option == IDENTITY else _label_counts(evidence, option)
    if joint is None:
        raise MissingCountsError(evidence.name, option)
    basis = Basis.of(joint.sum(axis=1))
    return Masked(option, basis, joint) if basis.size > 0 else None


def _label_counts(evidence: AttributeEvidence, option: str) -> IntArray | None:
    """The joint counts of a masking with the label, if they are those of its table, be it a function of the value."""
    masking = masking_named(evidence, option)
    determined = determined_counts(evidence, masking)
    return masking.joint if determined is None and masking.perturbation.is_none else determined


def _number(sizes: Sequence[Sequence[int]]) -> tuple[tuple[tuple[IntArray, ...], ...], int]:
    """Consecutive columns for each masking of each attribute, and how many there are."""
    flat = [size for each in sizes for size in each]
    ends = np.cumsum(flat)
    runs = iter([np.arange(end - size, end) for end, size in zip(ends.tolist(), flat, strict=True)])
    return tuple(tuple(next(runs) for _ in each) for each in sizes), int(ends[-1])


def _placed(
    masked: Sequence[Sequence[Masked | None]], columns: tuple[tuple[IntArray, ...], ...]
) -> Iterator[tuple[Masked, IntArray]]:
    for each, places in zip(masked, columns, strict=True):
        for one, place in zip(each, places, strict=True):
            if one is not None:
                yield one, place


def _correlations(
    tables: PairTables,
    masked: Sequence[Sequence[Masked | None]],
    columns: tuple[tuple[IntArray, ...], ...],
    codes: Codes,
    size: int,
) -> FloatArray:
    found = np.eye(size)
    missing: list[tuple[str, str, str, str]] = []
    names = [known.name for known in tables.evidence]
    for first, second, code, other in _together(codes, [len(each) for each in masked]):
        one, two = masked[first][code], masked[second][other]
        if one is None or two is None:
            continue
        joint = tables.find(first, one.id, second, two.id)
        if joint is None:
            missing.append((names[first], one.id, names[second], two.id))
            continue
        rows, across = columns[first][code], columns[second][other]
        block = correlations(joint, one.basis, two.basis)
        found[rows[0] : rows[-1] + 1, across[0] : across[-1] + 1] = block
        found[across[0] : across[-1] + 1, rows[0] : rows[-1] + 1] = block.T
    if missing:
        raise MissingPairsError(missing)
    return found


def _together(codes: Codes, sizes: Sequence[int]) -> Iterator[tuple[int, int, int, int]]:
    """Every two attributes with every two of their codes that a configuration uses together."""
    wide = codes.T.astype(np.int64, order="C")
    for first, second in combinations(range(len(sizes)), 2):
        both = np.bincount(wide[first] * sizes[second] + wide[second], minlength=sizes[first] * sizes[second])
        for combination in np.flatnonzero(both).tolist():
            yield first, second, *divmod(combination, sizes[second])
