"""The solution, which never comes without its certificate: how well it fits each view."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, Self

import numpy as np

from aegis_advisor.arrays import AtomArray, FloatArray, IntArray, fold
from aegis_advisor.atoms import AtomStatistics, per_atom
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.reconstruction.exact import nearest_with_label
from aegis_advisor.reconstruction.problem import Problem, counts_of, restored

Method = Literal["closed_form", "ipf", "newton"]
"""How a table was found, from the most to the least direct way."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """How far a view's counts are from what the reference makes of them.

    Attributes:
        largest: the largest difference of a count, over the number of records.
        standardised: the root mean square of the differences over their standard deviations, about 1 or less where
            a declaration is true; None where the counts are exact.
    """

    largest: float
    standardised: float | None

    @classmethod
    def of(cls, gaps: FloatArray, variance: FloatArray | None, records: float) -> Self:
        """The misfit of differences (groups, labels), of counts that have these variances (None: exact)."""
        standardised = None
        if variance is not None and (varies := variance > 0).any():
            standardised = float(np.sqrt(np.mean(gaps[varies] ** 2 / variance[varies])))
        return cls(float(np.abs(gaps).max(initial=0.0)) / max(records, 1.0), standardised)


@dataclass(frozen=True, slots=True)
class Certificate:
    """How a reconstruction was found, and how well it fits.

    Attributes:
        method: given | closed_form | ipf | newton | own, the least direct one that was needed.
        atoms: the rows of the table.
        iterations: the most sweeps and steps that any part took; 0 where nothing iterates.
        residual: the largest margin residual over the number of records, of every margin that is exact.
        converged: the residual is within the solver's tolerance, and no table fits the other margins better.
        misfits: by masking, how far the table is from the counts of each view that is not exact; where nothing
            converged, of those that are exact, too: where they contradict each other.
        support_known: it is certain which cells are empty: those that no table of whole counts that fits fills.
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
    """The reference joint counts of an attribute, collapsed to atoms. Plain arrays, cheap to construct.

    Row `a` of the full table is `joint[t] * f(a) / f(t)` with `t = atom_of_value[a]` where the histogram `f`
    is known, and `joint[t] / statistics.values[t]` where it is not.

    Attributes:
        atom_of_value: (values,) int32.
        joint: (atoms, labels) float64 counts.
        statistics: four arrays (atoms,), see there.
        information_bound: bits; no table that fits the evidence has less mutual information. Known in
            variant I only, None otherwise; it means something only if the certificate says converged.
        certificate: how it was found.
        ceilings: by measure id, in its unit; no table that fits the evidence has more utility (`utility_ceilings`).
    """

    atom_of_value: AtomArray
    joint: FloatArray
    statistics: AtomStatistics
    information_bound: float | None
    certificate: Certificate
    ceilings: Mapping[str, float] = field(default_factory=dict)

    def fold(self, mapping: IntArray, groups: int) -> FloatArray:
        """The masked table (groups, labels) of a mapping (values,) that no atom straddles."""
        atoms = self.joint.shape[0]
        return fold(self.joint, per_atom(mapping, self.atom_of_value, atoms), groups)

    def drawn(self, transition: FloatArray) -> FloatArray:
        """The expected table (groups, labels) of a transition matrix (values, groups), alike within each atom."""
        share = np.zeros((self.joint.shape[0], transition.shape[1]))
        share[self.atom_of_value] = transition
        table: FloatArray = share.T @ self.joint
        return table


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """What a solver found for one problem.

    Attributes:
        method: closed_form | ipf | newton.
        table: (atoms, labels), never negative, never NaN.
        iterations: the steps it took.
        divergence: records times nats, a value of the dual: no table that fits is closer to the prior (KL).
        multipliers: (groups, labels) of all margins one after the other, the logarithms that led there; None for
            a closed form.
        gap: over the records, how far the counts that vary are from their best fit, as the gradient has it.
    """

    method: Method
    table: FloatArray
    iterations: int
    divergence: float
    multipliers: FloatArray | None = None
    gap: float = 0.0


class Solver(Protocol):
    """Solves problems that have no closed form. Holds configuration only."""

    @property
    def tolerance(self) -> float:
        """The largest margin residual, over the number of records, that counts as converged."""

    def solve(self, problem: Problem) -> Solution:
        """Solve a connected problem without empty atoms; always ends, with the residual it has reached."""


def divergence(table: FloatArray, prior: FloatArray) -> float:
    """KL divergence of counts from the prior (both (atoms, labels)), in records times nats.

    `sum F ln(F / P)`, for tables of equal total.
    """
    held = table > 0
    return float(np.sum(table[held] * np.log(table[held] / prior[held])))


def find_misfits(
    evidence: AttributeEvidence, problem: Problem, table: FloatArray, *, with_exact: bool
) -> dict[str, Misfit]:
    """The misfit of each view that is not exact, and of the others `with_exact`, by masking.

    Args:
        problem: the one that the table (atoms, labels) is to solve; its first margin is the label's histogram.
    """
    misfits = {}
    for masking, margin in zip(evidence.traceable, problem.margins[1:], strict=True):
        if with_exact or not margin.is_exact:
            misfits[masking.id] = Misfit.of(margin.of(table) - margin.counts, margin.variance, problem.records)
    for masking in evidence.maskings:
        if masking.is_fitted and not masking.is_traceable:
            counts, variance = restored(masking, counts_of(masking), evidence)
            misfits[masking.id] = Misfit.of(nearest_with_label(masking, evidence) - counts, variance, problem.records)
    return misfits
