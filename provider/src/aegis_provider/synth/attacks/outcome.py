"""The outcome of an attack, compared with chance and with held-out records."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check import Interval

CONFIDENCE: Final = 1.96
"""The quantile of the normal distribution for 95 % intervals."""

_FEWEST_TRIED: Final = 20


@dataclass(frozen=True)
class Outcome:
    """The outcome of an attack, in one of its variants.

    Attributes:
        name: The attack.
        variant: The variant of the attack: what the attacker knows or guesses.
        attacked: The number of attacked records, or guesses.
        measure: The reference of the success share, or `AUC`.
        success: The success on seen records.
        baseline: The success without the release.
        held_out: The success on held-out records; `None` if there are none.
        sentence: A description in plain English.
        details: Further numbers by name.
        is_attack: Whether it is an attack. Otherwise it describes the release, and is not compared with attacks.
    """

    name: str
    variant: str
    attacked: int
    measure: str
    success: Interval
    baseline: Interval
    held_out: Interval | None
    sentence: str
    details: Mapping[str, float] = field(default_factory=dict)
    is_attack: bool = True

    @property
    def is_few(self) -> bool:
        """Whether there were too few tries for a meaningful share."""
        return self.attacked < _FEWEST_TRIED

    @property
    def beyond_chance(self) -> Interval:
        """The gain over the baseline, as a share of the possible gain."""
        return beyond(self.success, self.baseline)

    @property
    def risk(self) -> Interval | None:
        """The gain over held-out records, as a share of the possible gain: the risk of being in the table.

        Source: Giomi et al., A Unified Framework for Quantifying Privacy Risk in Synthetic Data, PoPETs 2023, eq. 4.
        """
        return None if self.held_out is None else beyond(self.success, self.held_out)

    def gain(self, variants: int = 1) -> float:
        """Return the certain gain over both references, corrected for the number of variants (see `least`)."""
        compared = [self.beyond_chance] if self.risk is None else [self.beyond_chance, self.risk]
        return min(least(each, variants) for each in compared)


def least(interval: Interval, variants: int) -> float:
    """Return the lower limit of an interval, with Bonferroni's correction for the number of variants.
    The more attacks are tried, the more often one looks better than it is.
    """
    wider = NormalDist().inv_cdf(1 - 0.025 / variants) / CONFIDENCE
    return interval.value - wider * (interval.value - interval.low)


def beyond(success: Interval, reference: Interval) -> Interval:
    """Return (success - reference) / (1 - reference) with its 95 % interval by the delta method, within [-1, 1].

    The two are treated as independent, and half an interval as 1.96 standard errors.
    """
    left = 1.0 - reference.value
    if left <= 0:
        return Interval(0.0, 0.0, 0.0)
    value = (success.value - reference.value) / left
    below = np.hypot(
        (success.value - success.low) / left, (1 - success.value) * (reference.high - reference.value) / left**2
    )
    above = np.hypot(
        (success.high - success.value) / left, (1 - success.value) * (reference.value - reference.low) / left**2
    )
    return Interval(max(-1.0, value), max(-1.0, value - float(below)), min(1.0, value + float(above)))


def wilson(successes: float, attempts: int) -> Interval:
    """Return a share of independent attempts with Wilson's score interval; all of [0, 1] if there is no attempt.

    Source: Wilson, Probable inference, the law of succession, and statistical inference (1927); as in Giomi et al.,
    section 5.
    """
    if not attempts:
        return Interval(0.0, 0.0, 1.0)
    share, z = successes / attempts, CONFIDENCE
    centre = (share + z**2 / (2 * attempts)) / (1 + z**2 / attempts)
    half = z / (1 + z**2 / attempts) * np.sqrt(share * (1 - share) / attempts + z**2 / (4 * attempts**2))
    return Interval(share, max(0.0, min(share, centre - float(half))), min(1.0, max(share, centre + float(half))))


def share_of(hits: NDArray[np.bool_]) -> Interval:
    """Return the share of the hits with Wilson's interval."""
    return wilson(int(hits.sum()), len(hits))


def mean_of(values: NDArray[np.float64]) -> Interval:
    """Return the mean of values in [0, 1] with its 95 % interval by the normal distribution."""
    if len(values) < 2:  # noqa: PLR2004 - no variance
        return Interval(float(values.mean()) if len(values) else 0.0, 0.0, 1.0)
    value, half = float(values.mean()), CONFIDENCE * float(values.std(ddof=1) / np.sqrt(len(values)))
    return Interval(value, max(0.0, value - half), min(1.0, value + half))


def exactly(value: float) -> Interval:
    """Return an interval without width."""
    return Interval(value, value, value)
