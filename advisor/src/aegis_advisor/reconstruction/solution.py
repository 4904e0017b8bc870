"""Solutions and references, with a certificate of how well they fit each view."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, Self

import numpy as np

from aegis_advisor.arrays import AtomArray, BoolArray, FloatArray, IntArray, fold
from aegis_advisor.atoms import AtomStatistics, per_atom
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.reconstruction.exact import nearest_with_label
from aegis_advisor.reconstruction.problem import Problem, counts_of, restored

Method = Literal["closed_form", "ipf", "newton"]
"""The method that yielded a table, from the most to the least direct."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """The deviation of a view's counts from those of the reference.

    Attributes:
        largest: the largest difference of a count, over the number of records.
        standardised: the root mean square of the differences over their standard deviations, about 1 or less if the
            declaration is true; None if the counts are exact.
    """

    largest: float
    standardised: float | None

    @classmethod
    def of(cls, gaps: FloatArray, variance: FloatArray | None, records: float) -> Self:
        """Return the misfit of differences (groups, labels) of counts with these variances (None if exact)."""
        standardised = None
        if variance is not None and (varies := variance > 0).any():
            standardised = float(np.sqrt(np.mean(gaps[varies] ** 2 / variance[varies])))
        return cls(float(np.abs(gaps).max(initial=0.0)) / max(records, 1.0), standardised)


@dataclass(frozen=True, slots=True)
class Certificate:
    """The method and the fit of a reconstruction.

    Attributes:
        method: given | closed_form | ipf | newton | own, the least direct one used.
        atoms: the number of rows of the table.
        iterations: the most sweeps and steps that any part took; 0 without iteration.
        residual: the largest residual of an exact margin, over the number of records.
        converged: whether the residual is within the solver's tolerance, and no table fits the other margins better.
        misfits: by masking, the deviation of the table from the counts of each inexact view. If the fit did not
            converge, exact views are included, since they contradict each other.
        support_known: whether it is certain which cells are empty: those that are 0 in every table of whole counts
            that fits.
    """

    method: str
    atoms: int
    iterations: int
    residual: float
    converged: bool
    misfits: Mapping[str, Misfit] = field(default_factory=dict)
    support_known: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """The reference joint counts of an attribute, collapsed to atoms, as plain arrays that are cheap to construct.

    Row `a` of the full table is `joint[t] * f(a) / f(t)` with `t = atom_of_value[a]` if the histogram `f` is known,
    else `joint[t] / statistics.values[t]`.

    Attributes:
        atom_of_value: (values,) int32.
        joint: (atoms, labels) float64 counts.
        statistics: sums over the values of each atom (`AtomStatistics`).
        information_bound: in bits; no table that fits the evidence has less mutual information. It is known in
            variant I only, else None, and is valid only if the certificate says converged.
        certificate: its method and its fit.
        ceilings: by measure id, in its unit; no table that fits the evidence has more utility (`utility_ceilings`).
        refined: int64 counts (groups, labels) of partitions of the domain that the exact views determine jointly but
            not singly (`KnownSums`).
    """

    atom_of_value: AtomArray
    joint: FloatArray
    statistics: AtomStatistics
    information_bound: float | None
    certificate: Certificate
    ceilings: Mapping[str, float] = field(default_factory=dict)
    refined: tuple[IntArray, ...] = ()

    def fold(self, mapping: IntArray, groups: int) -> FloatArray:
        """Return the masked table (groups, labels) of a mapping (values,) that splits no atom."""
        atoms = self.joint.shape[0]
        return fold(self.joint, per_atom(mapping, self.atom_of_value, atoms), groups)

    def drawn(self, transition: FloatArray) -> FloatArray:
        """Return the expected table (groups, labels) by a transition matrix (values, groups) constant in each atom."""
        share = np.zeros((self.joint.shape[0], transition.shape[1]))
        share[self.atom_of_value] = transition
        table: FloatArray = share.T @ self.joint
        return table


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The solution of one problem.

    Attributes:
        method: closed_form | ipf | newton.
        table: (atoms, labels), never negative, never NaN.
        divergence: a value of the dual, in records times nats; no table that fits is closer to the prior (KL).
        multipliers: (groups, labels) the logarithms of the multipliers, all margins one after the other; None for a
            closed form.
        gap: the distance of the inexact counts from their best fit, by the gradient, over the number of records.
        empty: (atoms, labels) cells proven empty although none of their margins is 0; None if there are none.
    """

    method: Method
    table: FloatArray
    iterations: int
    divergence: float
    multipliers: FloatArray | None = None
    gap: float = 0.0
    empty: BoolArray | None = None


class Solver(Protocol):
    """A solver of problems without a closed form. It has no state but its configuration."""

    @property
    def tolerance(self) -> float:
        """The largest margin residual, over the number of records, that counts as converged."""

    def solve(self, problem: Problem) -> Solution:
        """Solve a connected problem without empty atoms. It always ends, with whatever residual."""


def divergence(table: FloatArray, prior: FloatArray) -> float:
    """The KL divergence of counts from the prior (both (atoms, labels)), in records times nats.

    `sum F ln(F / P)`, for tables with equal totals.
    """
    held = table > 0
    return float(np.sum(table[held] * np.log(table[held] / prior[held])))


def find_misfits(
    evidence: AttributeEvidence, problem: Problem, table: FloatArray, *, with_exact: bool
) -> dict[str, Misfit]:
    """The misfit of each inexact view, by masking; if `with_exact`, also of the exact views.

    Args:
        problem: the problem that the table (atoms, labels) solves; its first margin is the label's histogram.
    """
    misfits = {}
    for masking, margin in zip((*evidence.traceable, *evidence.blocks), problem.margins[1:], strict=True):
        if with_exact or not margin.is_exact:
            misfits[masking.id] = Misfit.of(margin.of(table) - margin.counts, margin.variance, problem.records)
    for masking in evidence.maskings:
        if masking.is_fitted and not masking.is_traceable:
            counts, variance = restored(masking, counts_of(masking), evidence)
            misfits[masking.id] = Misfit.of(nearest_with_label(masking, evidence) - counts, variance, problem.records)
    return misfits
