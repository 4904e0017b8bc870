"""The uncertainty of an advice if the unmasked joint counts of an attribute are not known."""

import math
from dataclasses import dataclass

from aegis_sdk.reading.numbers import number
from aegis_sdk.wire import IDENTITY, AttributeAdvice, MaskingScore

_FAR_APART = 2
_ROUNDING = 1e-9
_CERTAIN_SOURCES = ("counts", "definition")


@dataclass(frozen=True)
class Bounds:
    """Bounds on a true number; `least` or `most` is infinite without a bound on that side."""

    least: float
    most: float

    @property
    def far_apart(self) -> bool:
        """Whether both bounds are known and the upper one is more than twice the lower one."""
        known = math.isfinite(self.least) and math.isfinite(self.most)
        return known and self.most > _FAR_APART * self.least + _ROUNDING

    def __str__(self) -> str:
        return f"{number(self.least, 2)} to {number(self.most, 2)}"


def reference_known(attribute: AttributeAdvice) -> bool:
    """Whether the reference utility is exactly that of the unmasked attribute."""
    return attribute.bound == "exact"


def utility_bounds(attribute: AttributeAdvice) -> Bounds:
    """Bounds on the true utility of the unmasked attribute."""
    least, most = attribute.lower_bound, attribute.upper_bound
    return Bounds(-math.inf if least is None else least, math.inf if most is None else most)


def deviation_bounds(attribute: AttributeAdvice, score: MaskingScore) -> Bounds:
    """Bounds on the distance between the utility of a masking and the true utility of its attribute.

    There is no upper bound if the utility of the masking is itself fitted or computed from the reference.
    """
    if score.source not in _CERTAIN_SOURCES:
        return Bounds(0, math.inf)
    whole = utility_bounds(attribute)
    below, above = whole.least - score.utility, whole.most - score.utility
    return Bounds(max(below, -above, 0.0), max(abs(below), abs(above)))


def stated_deviation(attribute: AttributeAdvice, masking: str) -> str:
    """The deviation of a masking as text, with its uncertainty.

    `0.125` if the reference is known, `0.16 (0.002 to 0.84)` if the bounds are far apart, otherwise `at least 0.16` or
    `about 0.16`.
    """
    score = attribute.maskings[masking]
    stated = number(score.deviation)
    # An unmasked attribute loses nothing, however little is known of it.
    if reference_known(attribute) or masking == IDENTITY:
        return stated
    bounds = deviation_bounds(attribute, score)
    if bounds.far_apart:
        return f"{stated} ({bounds})"
    no_less = score.source in _CERTAIN_SOURCES and bounds.least >= score.deviation * (1 - _ROUNDING)
    return f"{'at least' if no_less else 'about'} {stated}"
