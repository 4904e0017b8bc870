"""Pillai's trace of one configuration after another, reusing the part shared with the previous one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import BoolArray, Codes, FloatArray, IntArray
from aegis_advisor.joint.design import Design
from aegis_advisor.joint.elimination import Elimination, Outcome
from aegis_advisor.joint.inexact import inexact_traces


@dataclass(frozen=True, slots=True, eq=False)
class Traces:
    """The traces of configurations. All arrays are (configurations,).

    Attributes:
        trace: `V = tr(Sxx^+ Sxy Syy^+ Syx)`; NaN if no table has the counts of a configuration.
        rank: the rank of `Sxx`.
        doubt: the rounding error of the trace; infinite if unknown.
        coefficients: those of each (`InexactTrace`), for its standard errors; None if all counts are exact.
    """

    trace: FloatArray
    rank: IntArray
    doubt: FloatArray
    coefficients: Sequence[FloatArray] | None = None


def traces(design: Design, codes: Codes, label: IntArray) -> Traces:
    """Compute the traces of the configurations with these codes (configurations, attributes).

    Args:
        design: the correlations.
        codes: the configurations.
        label: (labels,) the records of each label value.
    """
    if design.variance is not None:
        outcomes = inexact_traces(design, design.variance, codes, label)
        kept = np.array([outcome.kept for outcome in outcomes], dtype=np.int64)
        coefficients = [outcome.coefficients for outcome in outcomes]
        return Traces(
            np.array([outcome.trace for outcome in outcomes]), kept, np.full(len(codes), np.inf), coefficients
        )
    records = int(label.sum())
    order = _order(design, codes)
    arranged = codes[:, order]
    columns = [design.columns[attribute] for attribute in order]
    rows = np.lexsort(arranged.T[::-1])
    traced = Traces(np.empty(len(codes)), np.empty(len(codes), dtype=np.int64), np.empty(len(codes)))
    elimination = Elimination.of(design, columns, records)
    last = Outcome(0.0, 0, 0.0)
    for row, shared in zip(rows, _shared(arranged[rows]).tolist(), strict=True):
        if shared < codes.shape[1]:  # otherwise the row equals the previous one
            chosen = [of[code] for of, code in zip(columns, arranged[row].tolist(), strict=True)]
            last = elimination.replace(chosen, shared)
        traced.trace[row], traced.rank[row], traced.doubt[row] = last
    return traced


def _order(design: Design, codes: Codes) -> list[int]:
    """Order attributes so that successive configurations share the most: those with the fewest maskings in use
    first.
    """
    changes = [len(np.unique(column)) for column in codes.T]
    largest = [max((columns.size for columns in of), default=0) for of in design.columns]
    return sorted(range(len(changes)), key=lambda attribute: (changes[attribute], -largest[attribute]))


def _shared(codes: Codes) -> IntArray:
    """(configurations,) the number of leading attributes that each shares with the previous one; 0 for the first."""
    differs: BoolArray = codes[1:] != codes[:-1]
    first = np.where(differs.any(axis=1), differs.argmax(axis=1), codes.shape[1])
    return np.concatenate(([0], first)).astype(np.int64)
