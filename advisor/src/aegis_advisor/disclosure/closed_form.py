"""Bounds that need no linear program: tables between two margins, and equations that have one solution."""

import numpy as np
from scipy.linalg import LinAlgError, inv

from aegis_advisor.arrays import FloatArray, fold
from aegis_advisor.reconstruction.exact import unique_table
from aegis_advisor.reconstruction.problem import Margin, Problem, design_of

Bounds = tuple[FloatArray, FloatArray]
"""Lower and upper, both (atoms, labels)."""


def in_groups(margin: Margin, rows: FloatArray | None) -> Bounds:
    """The tightest bounds of the cells of a margin whose groups share no atom, in the order of its members.

    With known rows (members,) a group is a table with two margins, for which the bounds of Frechet (1951), also
    Bonferroni's, are attained: `max(0, r + c - n) <= x <= min(r, c)`. Without them, the atoms of a group share out each
    count as they like; an atom that is alone has all of it.
    """
    counts = margin.counts[margin.group_of]
    if rows is None:
        alone = np.bincount(margin.group_of, minlength=margin.groups)[margin.group_of] == 1
        return np.where(alone[:, np.newaxis], counts, 0.0), counts
    row = rows[:, np.newaxis]
    rest = counts.sum(axis=1, keepdims=True) - counts
    return np.maximum(0.0, row - rest), np.minimum(row, counts)


def contradicts(margin: Margin, rows: FloatArray) -> bool:
    """Whether the rows (members,) of a group do not add up to its counts."""
    return not np.array_equal(fold(rows, margin.group_of, margin.groups), margin.counts.sum(axis=1))


def proven_table(problem: Problem) -> FloatArray | None:
    """The one table (atoms, labels) that meets the margins, with a proof that there is no other; or None.

    `unique_table` finds it and checks the margins. That the atoms' rows `D` of the design are independent, so that no
    other table has the same sums, follows from an approximate inverse `X` of `G = D D'` (Rump 2010, "Verification
    methods: rigorous results using floating-point arithmetic"): a matrix `G` with `||I - X G|| < 1` is not singular.
    """
    table = unique_table(problem)
    if table is None:
        return None
    design = design_of(problem)
    return table if _is_regular(np.asarray((design @ design.T).todense(), dtype=np.float64)) else None


def _is_regular(gram: FloatArray) -> bool:
    """Whether a matrix (n, n) of whole numbers is proven to be regular, rounding included."""
    try:
        inverse = np.asarray(inv(gram))
    except LinAlgError:
        return False
    off = np.abs(np.eye(len(gram)) - inverse @ gram).sum(axis=1).max()
    rounding = 2 * len(gram) * np.finfo(np.float64).eps * (np.abs(inverse) @ gram).sum(axis=1).max()
    return bool(off + rounding < 1.0)
