"""How far the estimated utility of unmasked attributes is from the true one, and whether what is certain is true.

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
"""What rounding may take a bound beyond the truth, over the larger of 1 and the truth."""


@dataclass(frozen=True, slots=True)
class UtilityError:
    """One attribute by one measure.

    Attributes:
        measure: its id.
        estimated: the reference utility rho_ref.
        true: the measure of the unmasked counts.
        bound: the `bound` of the advice says what is true; None where it says nothing.
        interval: the truth is between its lower and its upper bound; None where one of the two is missing.
        closed_form: the counts of the views' common refinement follow from the views: nothing was left to estimate.
        converged: the reference has.
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
        """Positive where the attribute is taken to tell more than it does (less, where lower is better)."""
        return self.estimated - self.true


@dataclass(frozen=True, slots=True)
class ErrorSummary:
    """The errors of one measure over attributes.

    Attributes:
        attributes: how many there are.
        signed: the mean error.
        absolute: the mean of the errors without their sign.
        relative: the same over the mean true utility; not a number where that is 0.
        above: of how many attributes more than the truth is estimated, rounding apart.
        closed_form: of how many the views leave nothing to estimate.
        bounds: how many bounds there are, and `bounds_held`, how many hold.
        intervals: how many intervals there are, and `intervals_held`, how many hold.
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
        """The summary of errors of one measure, one or more."""
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
    """One attribute by every measure, against its true counts (values, labels); with all views known."""
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
    """Whether the truth is on the side of the bound that it says."""
    beyond = true - (assessment.bound_value or 0.0)
    if assessment.bound == "exact":
        return abs(beyond) <= slack
    return beyond >= -slack if assessment.bound == "lower" else beyond <= slack


def _slack(true: float) -> float:
    return SLACK * max(1.0, abs(true))
