"""What a release tells about held-out records beyond what whoever knows no attribute can say."""

from statistics import fmean
from typing import TypeAlias

from aegis_sdk.wire import Estimate, Holdout, Transfer

Numbers: TypeAlias = tuple[float, float, float]
"""A number, and the lower and the upper limit of its interval."""


def told_by(transfer: Transfer, holdout: Holdout, measure: str) -> Numbers | None:
    """Return what a release tells by a measure: by `joint` of all attributes together, else as a mean over them.

    By g3, that is how many errors fewer a rule makes. `None` if there are no such figures.
    """
    if measure == "joint":
        return None if transfer.joint is None else _numbers(transfer.joint)
    figures = [each[measure] for each in transfer.attributes.values() if measure in each]
    if not figures:
        return None
    value, low, high = (fmean(each) for each in zip(*map(_numbers, figures), strict=True))
    if measure == "g3":
        most = holdout.majority_error or 0.0
        return most - value, most - high, most - low
    return value, low, high


def _numbers(estimate: Estimate) -> Numbers:
    return estimate.value, estimate.low, estimate.high
