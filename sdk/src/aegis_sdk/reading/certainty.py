"""How far the numbers of an advice are certain, where the unmasked joint counts of an attribute are not known."""

import math
from dataclasses import dataclass

from aegis_sdk.wire import IDENTITY, AttributeAdvice, MaskingScore

_FAR_APART = 2
_ROUNDING = 1e-9
_CERTAIN_SOURCES = ("counts", "definition")


@dataclass(frozen=True)
class Bounds:
    """The true number lies between `least` and `most`; infinite where nothing is certain on that side."""

    least: float
    most: float

    @property
    def far_apart(self) -> bool:
        """Whether both are known, and one is more than twice the other."""
        known = math.isfinite(self.least) and math.isfinite(self.most)
        return known and self.most > _FAR_APART * self.least + _ROUNDING

    def __str__(self) -> str:
        return f"{self.least:.2g} to {self.most:.2g}"


def reference_known(attribute: AttributeAdvice) -> bool:
    """Whether the reference utility is that of the unmasked attribute, and not only what the published tables tell."""
    return attribute.knowledge == "joint" or attribute.bound == "exact"


def utility_bounds(attribute: AttributeAdvice) -> Bounds:
    """Bounds of the true utility of the unmasked attribute."""
    least, most = attribute.lower_bound, attribute.upper_bound
    return Bounds(-math.inf if least is None else least, math.inf if most is None else most)


def deviation_bounds(attribute: AttributeAdvice, score: MaskingScore) -> Bounds:
    """Bounds of how far a masking is from the true utility of its attribute.

    A masking whose utility is itself fitted, or folded from the reference, has none.
    """
    if score.source not in _CERTAIN_SOURCES:
        return Bounds(0, math.inf)
    whole = utility_bounds(attribute)
    below, above = whole.least - score.utility, whole.most - score.utility
    return Bounds(max(below, -above, 0.0), max(abs(below), abs(above)))


def stated_deviation(attribute: AttributeAdvice, masking: str) -> str:
    """The deviation of a masking, as certain as it is.

    `0.125` where the reference is known; `0.16 (0.002 to 0.84)` where bounds are far apart; `at least 0.16` and
    `about 0.16` for others.
    """
    score = attribute.maskings[masking]
    number = f"{score.deviation:.3g}"
    # As it is, an attribute loses nothing, however little is known of it.
    if reference_known(attribute) or masking == IDENTITY:
        return number
    bounds = deviation_bounds(attribute, score)
    if bounds.far_apart:
        return f"{number} ({bounds})"
    no_less = score.source in _CERTAIN_SOURCES and bounds.least >= score.deviation * (1 - _ROUNDING)
    return f"{'at least' if no_less else 'about'} {number}"
