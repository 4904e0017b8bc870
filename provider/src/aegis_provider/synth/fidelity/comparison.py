"""Compares real records with equally many released, other real, and shuffled released ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aegis_provider.synth.fidelity.encoding import (
    Codes,
    Encoder,
    Gaussian,
    PlainRecords,
    ValueGroups,
    joint_counts,
    pair_total_variation,
)
from aegis_provider.synth.fidelity.parts import Parts
from aegis_provider.synth.fidelity.result import ColumnAssociation, Compared, Embedding


def associations(codes: Codes, sizes: Sequence[int]) -> NDArray[np.float64]:
    """(columns, columns) Return Cramér's V of each pair of columns, corrected for the bias of few records.

    It is 0 for independent or constant columns, and 1 if each determines the other.

    Args:
        codes: (records, columns) The groups of the values, which also capture nonlinear association of numbers.
    """
    matrix = np.eye(len(sizes))
    for pair in combinations(range(len(sizes)), 2):
        matrix[pair] = matrix[pair[::-1]] = cramers_v(joint_counts(codes, pair, sizes))
    return matrix


def cramers_v(counts: NDArray[np.intp]) -> float:
    """Return the bias-corrected V of a table of counts.

    Source: Bergsma, A bias-correction for Cramér's V and Tschuprow's T (2013), section 3.
    """
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    records, (rows, columns) = counts.sum(), counts.shape
    if min(rows, columns) < 2:  # noqa: PLR2004 - a constant
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / records
    squared = ((counts - expected) ** 2 / expected).sum() / records
    unbiased = max(0.0, squared - (rows - 1) * (columns - 1) / (records - 1))
    fewest = min(each - (each - 1) ** 2 / (records - 1) for each in (rows, columns)) - 1
    return float(np.sqrt(min(1.0, unbiased / fewest))) if fewest > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Comparison:
    """Equally many records of each kind, since every measure depends on their number.

    Attributes:
        other: Other real records, the attainable optimum.
        shuffled: Released records with shuffled columns, the result of chance.
        assigned: Records that are assigned to the clusters of each kind.
    """

    real: PlainRecords
    other: PlainRecords
    released: PlainRecords
    shuffled: PlainRecords
    assigned: PlainRecords

    @classmethod
    def of(cls, parts: Parts, rng: np.random.Generator) -> Self:
        """Draw the records, with the columns that the release has."""
        names, size = parts.released.names, min(len(parts.released), len(parts.real) // 2)
        order = rng.permutation(len(parts.real))
        real, other = (parts.real.only(names).take(each) for each in (order[:size], order[size : 2 * size]))
        released = parts.released.take(rng.permutation(len(parts.released))[:size])
        return cls(real, other, released, released.shuffled(rng), parts.tested.only(names))

    def agreement(self) -> tuple[int | None, Compared | None]:
        """Return the number of clusters, and the agreement of real records' clusters with the others'.

        Both are `None` if real records have no clusters.
        """
        from aegis_provider.synth.fidelity.clusters import agreement, assigned_to, number_of_clusters  # noqa: PLC0415 - an extra

        real, assigned = (self._encoder.vectors(each) for each in (self.real, self.assigned))
        number = number_of_clusters(real)
        if number is None:
            return None, None
        assign = partial(assigned_to, assigned=assigned, number=number)
        clusters = assign(real)
        return number, self._compared(lambda records: agreement(assign(self._encoder.vectors(records)), clusters))

    def associations(self) -> tuple[ColumnAssociation, ...]:
        """Return all pairs of columns, the largest error of the release first."""
        real, released, other = (self._matrix(each) for each in (self.real, self.released, self.other))
        listed = [
            ColumnAssociation(*names, float(real[pair]), float(released[pair]), float(other[pair]))
            for pair, names in zip(combinations(range(len(real)), 2), combinations(self.real.names, 2), strict=True)
        ]
        return tuple(sorted(listed, key=lambda each: -each.difference))

    def differences(self, total: Callable[[NDArray[np.float64]], Any]) -> Compared:
        """Return the differences of associations from those of real records, aggregated by `total`."""
        real, pairs = self._matrix(self.real), np.triu_indices(len(self.real.columns), 1)
        return self._compared(lambda records: float(total(np.abs(self._matrix(records) - real)[pairs])))

    def pair_total_variation(self) -> Compared:
        """Return the total variation of pairs of columns from real records."""
        real, sizes = self._grouping.codes(self.real), self._grouping.sizes
        return self._compared(lambda records: pair_total_variation(self._grouping.codes(records), real, sizes))

    def frechet_distance(self) -> Compared:
        """Return the Fréchet distances from real records."""
        real = Gaussian.of(self._encoder.vectors(self.real))
        return self._compared(lambda records: Gaussian.of(self._encoder.vectors(records)).frechet_distance(real))

    def embedding(self) -> Embedding | None:
        """Return real and released records in two dimensions."""
        from aegis_provider.synth.fidelity.clusters import embedded  # noqa: PLC0415 - an extra

        return embedded(self._encoder.vectors(self.real), self._encoder.vectors(self.released))

    def _compared(self, measure: Callable[[PlainRecords], float]) -> Compared:
        return Compared(*(measure(each) for each in (self.released, self.other, self.shuffled)))

    def _matrix(self, records: PlainRecords) -> NDArray[np.float64]:
        return associations(self._grouping.codes(records), self._grouping.sizes)

    @cached_property
    def _grouping(self) -> ValueGroups:
        return ValueGroups.of(self.real)

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder.of(self.real)
