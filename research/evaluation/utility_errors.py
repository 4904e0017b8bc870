"""The error of the estimated utility of unmasked attributes, and whether the stated bounds hold.

The utility of a masking is known from its counts: the error of its deviation is that of the reference utility.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.measures import MEASURES, Measure
from aegis_advisor.ranking import AttributeAssessment, assess
from aegis_advisor.reconstruction import reconstruct

SLACK = 1e-9
"""How far rounding may move a bound beyond the truth, over the larger of 1 and the truth."""


@dataclass(frozen=True, slots=True)
class UtilityError:
    """The error for one attribute by one measure.

    Attributes:
        measure: the measure's id.
        estimated: the reference utility rho_ref.
        true: the measure of the unmasked counts.
        bound: whether the `bound` of the advice holds; None if there is none.
        interval: whether the truth is between the lower and the upper bound; None if one of the two is missing.
        closed_form: whether the views determine the counts of their common refinement, so that nothing is estimated.
        converged: whether the reference has converged.
    """

    measure: str
    estimated: float
    true: float
    bound: bool | None
    interval: bool | None
    closed_form: bool
    converged: bool

    @property
    def error(self) -> float:
        """The signed error; positive if the attribute seems to tell more than it does (less, if lower is better)."""
        return self.estimated - self.true


@dataclass(frozen=True, slots=True)
class ErrorSummary:
    """The errors of one measure over attributes.

    Attributes:
        attributes: the number of attributes.
        signed: the mean error.
        absolute: the mean of the errors without their sign.
        relative: the same over the mean true utility; NaN if that is 0.
        above: for how many attributes the estimate is above the truth by more than rounding.
        closed_form: for how many attributes the views leave nothing to estimate.
        bounds: the number of bounds; `bounds_held` of them hold.
        intervals: the number of intervals; `intervals_held` of them hold.
    """

    attributes: int
    signed: float
    absolute: float
    relative: float
    above: int
    closed_form: int
    bounds: int
    bounds_held: int
    intervals: int
    intervals_held: int

    @classmethod
    def of(cls, errors: Iterable[UtilityError]) -> "ErrorSummary":
        """Summarise one or more errors of one measure."""
        listed = list(errors)
        each = np.array([one.error for one in listed])
        scale = float(np.mean([abs(one.true) for one in listed]))
        bounds = [one.bound for one in listed if one.bound is not None]
        intervals = [one.interval for one in listed if one.interval is not None]
        absolute = float(np.abs(each).mean())
        relative = absolute / scale if scale > 0 else float("nan")
        above = sum(one.error > _slack(one.true) for one in listed)
        closed = sum(one.closed_form for one in listed)
        held = (len(bounds), sum(bounds), len(intervals), sum(intervals))
        return cls(len(listed), float(each.mean()), absolute, relative, above, closed, *held)


def utility_errors(evidence: AttributeEvidence, truth: IntArray, *, histogram: bool) -> Iterator[UtilityError]:
    """Yield the errors for one attribute by every measure, with all views, against its true counts (values, labels)."""
    known = evidence if histogram else replace(evidence, histogram=None)
    reference = reconstruct(known)
    table = truth.astype(np.float64)
    for measure in MEASURES.values():
        yield _compared(measure, assess(known, reference, measure, ()), measure(table))


def _compared(measure: Measure, assessment: AttributeAssessment, true: float) -> UtilityError:
    slack = _slack(true)
    low, high = assessment.lower_bound, assessment.upper_bound
    return UtilityError(
        measure=measure.id,
        estimated=assessment.reference_utility,
        true=true,
        bound=None if assessment.bound_value is None else _holds(assessment, true, slack),
        interval=None if low is None or high is None else low - slack <= true <= high + slack,
        closed_form=assessment.certificate.method == "closed_form",
        converged=assessment.certificate.converged,
    )


def _holds(assessment: AttributeAssessment, true: float, slack: float) -> bool:
    """Return whether the truth is on the stated side of the bound."""
    beyond = true - (assessment.bound_value or 0.0)
    if assessment.bound == "exact":
        return abs(beyond) <= slack
    return beyond >= -slack if assessment.bound == "lower" else beyond <= slack


def _slack(true: float) -> float:
    return SLACK * max(1.0, abs(true))
