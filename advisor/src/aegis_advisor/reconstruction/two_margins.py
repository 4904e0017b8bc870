"""The classical problem: a seed table scaled to its row sums and its column sums."""

from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class ScaledTable:
    """A table between two margins.

    Attributes:
        table: (rows, columns), zero where the seed is.
        sweeps: how often both margins were scaled to.
        residual: the largest absolute difference of a margin, over the total.
        converged: the residual is within the tolerance.
    """

    table: FloatArray
    sweeps: int
    residual: float
    converged: bool


def fit_two_margins(
    seed: FloatArray, rows: FloatArray, columns: FloatArray, *, tolerance: float = 1e-9, sweeps: int = 10_000
) -> ScaledTable:
    """The table closest to the seed (KL divergence) with these margins (Sinkhorn & Knopp 1967).

    It is `u_i * seed_ij * v_j`, so that a sweep is two products of the seed with a vector and the table is made
    only once.

    Args:
        seed: (rows, columns), not negative.
        rows: (rows,) the sums wanted, not negative; their total is that of the columns.
        columns: (columns,) the sums wanted, not negative.
        tolerance: of the residual.
        sweeps: give up after so many (at least 1): a seed of too many zeros fits no margins.

    Raises:
        ValueError: the shapes do not fit, or the totals differ by more than the tolerance.
    """
    _refuse_mismatch(seed, rows, columns, tolerance)
    total = max(float(rows.sum()), np.finfo(np.float64).tiny)
    wide, transposed = np.ascontiguousarray(seed), np.ascontiguousarray(seed.T)
    scale = (columns > 0).astype(np.float64)
    for sweep in range(1, sweeps + 1):
        row_scale = _ratio(rows, wide @ scale)
        held = transposed @ row_scale
        gap = float(np.abs(held * scale - columns).max(initial=0.0))
        if gap <= tolerance * total or sweep == sweeps:
            break
        scale = _ratio(columns, held)
    table = wide * row_scale[:, np.newaxis] * scale
    residual = max(gap, float(np.abs(table.sum(axis=1) - rows).max(initial=0.0))) / total
    return ScaledTable(table, sweep, residual, residual <= tolerance)


def _refuse_mismatch(seed: FloatArray, rows: FloatArray, columns: FloatArray, tolerance: float) -> None:
    if seed.shape != (rows.size, columns.size):
        raise ValueError(f"a seed of shape {seed.shape} has no margins of {rows.size} rows and {columns.size} columns")
    if abs(rows.sum() - columns.sum()) > tolerance * max(rows.sum(), columns.sum()):
        raise ValueError(f"the rows add up to {rows.sum()}, the columns to {columns.sum()}")


def _ratio(wanted: FloatArray, held: FloatArray) -> FloatArray:
    return np.divide(wanted, held, out=np.zeros_like(held), where=held > 0)
