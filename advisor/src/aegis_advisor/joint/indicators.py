"""Pillai's traces of thousands of configurations from one matrix, for searches.

The traces are those of `joint.trace`, without its decisions in whole numbers: dimensions whose variance given those
before them is at most the share `DEPENDENT` are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import scipy

from aegis_advisor.arrays import Codes, FloatArray, IntArray, indicator
from aegis_advisor.measures.association import trace_bias
from aegis_advisor.measures.numbers import standardised

DEPENDENT: Final = 1e-9
"""A dimension is dependent on those before it if its variance given them is at most this share."""

Step = tuple[int, int]
"""An attribute, and the code of its new, finer masking."""


@dataclass(frozen=True, slots=True, eq=False)
class Indicators:
    """The correlations between the indicators of all masked values of all attributes.

    Attributes:
        columns: per attribute and code, the columns of the masked values; the most frequent one has none.
        correlations: (columns, columns).
        labels: (columns, labels) the correlations with the label, or (columns, 1) with its scores; the squares over an
            orthonormal basis of the columns sum to Pillai's trace.
        classes: the number of labels with records, less one; 1 if they have scores.
    """

    columns: tuple[tuple[IntArray, ...], ...]
    correlations: FloatArray
    labels: FloatArray
    classes: int
    records: int

    @classmethod
    def of(
        cls,
        values: IntArray,
        labels: IntArray,
        counts: IntArray,
        maskings: Sequence[Sequence[IntArray]],
        numbers: FloatArray | None = None,
    ) -> Self:
        """Compute the correlations of a table.

        Args:
            values: (rows, attributes) the place of each value in its domain.
            labels: (rows,) the place of the label's value.
            counts: (rows,) how many records each row stands for.
            maskings: per attribute and code, (values,) the number of each value's masked value.
            numbers: (labels,) the scores of the label's classes; None for the classes themselves.
        """
        parts = [_folded(column, masking) for column, masking in zip(values.T, maskings, strict=True)]
        groups = scipy.sparse.vstack([indicator(group, of.shape[1], np.float64) for group, of in parts], format="csr")
        folds, columns = _folds([of for _, of in parts], groups @ counts)
        weighted = groups.multiply(counts / counts.sum()).tocsr()
        means, shares = folds.T @ weighted.sum(axis=1), np.bincount(labels, counts) / counts.sum()
        covariances = folds.T @ (weighted @ groups.T).toarray() @ folds - np.outer(means, means)
        by_label = (weighted @ indicator(labels, shares.size, np.float64).T).toarray()
        held = shares > 0
        apart = folds.T @ by_label - np.outer(means, shares)
        scored = None if numbers is None else apart @ standardised(shares, numbers[: shares.size])[:, np.newaxis]
        with_label = apart[:, held] / np.sqrt(shares[held]) if scored is None else scored
        scale = np.sqrt(covariances.diagonal())
        return cls(
            columns,
            covariances / np.outer(scale, scale),
            with_label / scale[:, None],
            int(held.sum()) - 1 if numbers is None else 1,
            int(counts.sum()),
        )

    def traces(self, codes: Codes) -> tuple[FloatArray, IntArray]:
        """The traces (configurations,) of configurations (configurations, attributes), and their ranks."""
        outcomes = [_Factor.of(self, row).outcome for row in codes.tolist()]
        return np.array([trace for trace, _ in outcomes]), np.array([rank for _, rank in outcomes], dtype=np.int64)

    def refined(self, codes: Sequence[int], steps: Sequence[Step]) -> tuple[FloatArray, IntArray]:
        """The traces and ranks (steps,) after each of some steps from a configuration with these codes (attributes,).

        Each step leads to a masking that refines the present one, so it only adds dimensions.
        """
        outcomes = list(_Factor.of(self, codes).extended(self, steps))
        return np.array([trace for trace, _ in outcomes]), np.array([rank for _, rank in outcomes], dtype=np.int64)

    def trace_of_all(self, codes: Sequence[Sequence[int]]) -> float:
        """The trace of several maskings of each attribute together, `codes` (attributes, maskings): at least that of
        every configuration of them and of coarser ones.
        """
        columns = np.concatenate([of[code] for of, some in zip(self.columns, codes, strict=True) for code in some])
        return _Factor.of_columns(self, columns).outcome[0]

    def adjusted(self, traces: FloatArray, ranks: IntArray) -> FloatArray:
        """The traces adjusted for chance (`trace_bias`)."""
        both = zip(traces.tolist(), ranks.tolist(), strict=True)
        return np.array([trace - trace_bias(trace, rank, self.classes, self.records) for trace, rank in both])


@dataclass(frozen=True, slots=True, eq=False)
class _Factor:
    """The Cholesky factor of a configuration's independent columns.

    Attributes:
        lower: (rank, rank) the factor.
        solved: (rank, labels) the inverse of the factor times the correlations with the label.
    """

    lower: FloatArray
    places: IntArray
    solved: FloatArray

    @classmethod
    def of(cls, design: Indicators, codes: Sequence[int]) -> Self:
        return cls.of_columns(
            design, np.concatenate([of[code] for of, code in zip(design.columns, codes, strict=True)])
        )

    @classmethod
    def of_columns(cls, design: Indicators, columns: IntArray) -> Self:
        lower, order = _cholesky(design.correlations[np.ix_(columns, columns)])
        places = columns[order]
        return cls(lower, places, _solved(lower, design.labels[places]))

    @property
    def outcome(self) -> tuple[float, int]:
        """The trace and the rank."""
        return float(np.square(self.solved).sum()), self.places.size

    def extended(self, design: Indicators, steps: Sequence[Step]) -> Iterator[tuple[float, int]]:
        """Yield the trace and the rank after each step."""
        chosen = [design.columns[attribute][code] for attribute, code in steps]
        fresh = np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)
        part = _solved(self.lower, design.correlations[np.ix_(self.places, fresh)])
        labels = design.labels[fresh] - part.T @ self.solved
        trace, rank = self.outcome
        end = 0
        for columns in chosen:
            mine = slice(end, end := end + columns.size)
            rest = design.correlations[np.ix_(columns, columns)] - part[:, mine].T @ part[:, mine]
            lower, order = _cholesky(rest)
            added = np.square(_solved(lower, labels[mine][order])).sum()
            yield trace + float(added), rank + order.size


def _cholesky(matrix: FloatArray) -> tuple[FloatArray, IntArray]:
    """The factor of the independent columns of a matrix (n, n), and which columns these are, in the factor's order."""
    if not matrix.size or matrix.diagonal().max() <= DEPENDENT:  # the library never compares the first pivot with `tol`
        return np.zeros((0, 0)), np.zeros(0, dtype=np.int64)
    factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(matrix, tol=DEPENDENT, lower=1)
    return factor[:rank, :rank], pivots[:rank] - 1


def _solved(lower: FloatArray, right: FloatArray) -> FloatArray:
    if not lower.size:
        return right[:0]
    solved: FloatArray = scipy.linalg.blas.dtrsm(1.0, lower, right, lower=1)
    return solved


def _folded(values: IntArray, maskings: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """The coarsest grouping that determines all maskings of an attribute.

    Returns:
        (rows,) the group of each row, and (maskings, groups) the masked value of each group.
    """
    occurring, place = np.unique(values, return_inverse=True)  # far fewer than rows, and columns are slow to sort
    groups, atom_of = np.unique(np.stack(maskings)[:, occurring], axis=1, return_inverse=True)
    return atom_of.reshape(-1)[place], groups


def _folds(parts: Sequence[IntArray], records: FloatArray) -> tuple[FloatArray, tuple[tuple[IntArray, ...], ...]]:
    """The matrix that sums the indicators of groups to those of masked values, and the columns of each masking.

    Args:
        parts: per attribute, (maskings, groups) the masked value of each group.
        records: (groups of all attributes,) the records of each group.
    """
    blocks, columns, start, end = [], [], 0, 0
    for part in parts:
        own, of = slice(start, start + part.shape[1]), []
        for masked in part:
            values, place = np.unique(masked, return_inverse=True)
            frequent = int(np.bincount(place, records[own]).argmax())
            block = np.zeros((records.size, values.size))
            block[np.arange(own.start, own.stop), place] = 1.0
            blocks.append(np.delete(block, frequent, axis=1))
            of.append(np.arange(end, end := end + values.size - 1))
        columns.append(tuple(of))
        start = own.stop
    return np.concatenate(blocks, axis=1), tuple(columns)
