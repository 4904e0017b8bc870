"""Declared differences between the counts of a view and those of the table: noise, rounding, records left out.

The declarations bound the plausible error of the counts, and determine their weight in a fit.
"""

import math
import sys
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray

IMPLAUSIBLE = 1e-9
"""A view is rejected if the declared noise explains the deviation of its sums with at most this probability."""

LEAST_SCALE = 1e-6
"""Below this scale exp(-1 / scale), and with it the probability of noise, is 0 in doubles."""

_EXPONENTS = np.linspace(0.001, 0.999, 999)
"""The exponents tried in Chernoff's bound, in units of 1 / scale. Each gives a bound; the least is used."""


@dataclass(frozen=True, slots=True)
class Perturbation:
    """How the counts of a view differ from those of the table; without declarations they do not differ.

    Attributes:
        noise_scale: each count has independent discrete Laplace noise added, with P(k) proportional to
            exp(-|k| / scale) (Ghosh, Roughgarden & Sundararajan 2012).
        rounded_to: each count was rounded to a multiple of this base, up or down.
        records: the number of records counted; the others were left out.
        within: rounded counts add up to the published records of masked values, and each is off by less than this many
            bases; None if each was rounded separately, by less than one base.
    """

    noise_scale: float | None = None
    rounded_to: int | None = None
    records: int | None = None
    within: int | None = None

    @property
    def is_none(self) -> bool:
        """Whether the counts are those of the table."""
        return self.noise_scale is None and self.is_complete and self.rounded_to is None

    @property
    def is_noisy(self) -> bool:
        """Whether noise may have changed a count; at tiny scales its probability exp(-1 / scale) is 0."""
        return self.noise_scale is not None and math.exp(-1.0 / max(self.noise_scale, LEAST_SCALE)) > IMPLAUSIBLE

    @property
    def is_complete(self) -> bool:
        """Whether no record was left out."""
        return self.records is None

    @property
    def keeps_sums(self) -> bool:
        """Whether sums of counts are exact: no count has noise or was rounded separately."""
        return self.noise_scale is None and self.rounded_to is None

    def of_sums(self, terms: int) -> Self:
        """The declaration of sums of up to so many counts.

        With the variance v of a count, its noise has the moment generating function `1 / (1 - v (cosh x - 1))`. By
        Bernoulli's inequality its power `terms` is at most `1 / (1 - terms v (cosh x - 1))`, that of noise with the
        same variance as the sum: whatever bound holds for that noise holds for the sum.
        """
        if (terms == 1 and self.within is None) or (self.noise_scale is None and self.rounded_to is None):
            return self
        scale, base = self.noise_scale, self.rounded_to
        if scale is not None and noise_variance(scale) >= sys.float_info.min:  # below, no count is ever changed
            scale = 1 / math.acosh(1 + 1 / (terms * noise_variance(scale)))
        if base is not None:
            base = terms * (base * (self.within or 1) - 1) + 1
        return replace(self, noise_scale=scale, rounded_to=base, within=None)

    def slack(self, cells: int, sums: int) -> int:
        """The most that a sum of `cells` counts may differ from the number of records that it counts.

        Rounding changes a count by less than the base, or as many as are declared. Noise has no such bound; the
        probability that any of `sums` such sums exceeds the slack is at most `IMPLAUSIBLE`.
        """
        rounding = 0 if self.rounded_to is None else (self.rounded_to * (self.within or 1) - 1) * cells
        noise = 0 if self.noise_scale is None else largest_noise(self.noise_scale, cells, IMPLAUSIBLE / max(sums, 1))
        return rounding + noise

    @property
    def count_variance(self) -> float:
        """The variance of a single count, in records squared, without that of left-out records.

        Rounding is taken to be unbiased random rounding, with base^2 / 6 for a uniform remainder. Rounding to the
        nearest multiple would give half of that. The declaration does not say which was used, and overestimating the
        variance costs less than underestimating it.
        """
        noise = 0.0 if self.noise_scale is None else noise_variance(self.noise_scale)
        return noise + (0.0 if self.rounded_to is None else self.rounded_to**2 / 6)

    def restored(self, joint: IntArray, label_histogram: IntArray) -> tuple[FloatArray, FloatArray]:
        """Estimate the counts of all records: expectations and variances, both (groups, labels).

        The left-out records are taken to be a random sample. Given the counted records of their label value, they fall
        into the groups like further draws from an urn (Dirichlet-multinomial with a uniform prior, Laplace's rule of
        succession). So a group without counted records may have had some.
        """
        counts = joint.astype(np.float64)
        variance = np.full(counts.shape, self.count_variance)
        if self.records is None:
            return counts, variance
        missing = self._missing(counts, label_histogram)
        seen = np.maximum(counts, 0.0) + 1.0
        weight = seen.sum(axis=0)
        share = seen / weight
        spread = missing * share * (1.0 - share) * (missing + weight) / (weight + 1.0)
        unknown = share**2 * self._missing_variance(label_histogram)
        return counts + missing * share, variance * (1.0 + missing / weight) ** 2 + spread + unknown

    def _missing(self, counts: FloatArray, label_histogram: IntArray) -> FloatArray:
        """The left-out records (labels,) of each label value: known, or proportional to all where noise hides them."""
        label = label_histogram.astype(np.float64)
        if self.keeps_sums:
            missing: FloatArray = label - counts.sum(axis=0)
            return np.maximum(missing, 0.0)  # an inexact label histogram can be below the counts
        return label * (self._left_out(label) / max(float(label.sum()), 1.0))

    def _missing_variance(self, label_histogram: IntArray) -> FloatArray:
        """The variance (labels,) of the left-out records of each label value, where only their total is known."""
        label = label_histogram.astype(np.float64)
        if self.keeps_sums:
            return np.zeros(label.shape)
        share = label / max(float(label.sum()), 1.0)
        variance: FloatArray = self._left_out(label) * share * (1.0 - share)
        return variance

    def _left_out(self, label: FloatArray) -> float:
        """The number of records left out."""
        return max(float(label.sum()) - float(self.records or 0), 0.0)


UNPERTURBED = Perturbation()
"""The counts of a view are those of the table."""


def noise_variance(scale: float) -> float:
    """The variance of discrete Laplace noise, 2 q / (1 - q)^2 with q = exp(-1 / scale)."""
    inverse = 1.0 / max(scale, LEAST_SCALE)
    return 2.0 * math.exp(-inverse) / math.expm1(-inverse) ** 2


def largest_noise(scale: float, terms: int, probability: float) -> int:
    """Bound the absolute sum of `terms` independent discrete Laplace variables, except with at most `probability`.

    It is Chernoff's bound, `P(|S| >= t) <= 2 exp(-x t) M(x)^terms` for every x in (0, 1 / scale), with the moment
    generating function `M(x) = (1 - q)^2 / ((1 - q e^x) (1 - q e^-x))` and `q = exp(-1 / scale)`.
    """
    inverse = 1.0 / max(scale, LEAST_SCALE)
    up, down = (np.expm1(-inverse) / np.expm1(-inverse * (1.0 + sign * _EXPONENTS)) for sign in (-1, 1))
    bounds = (terms * np.log(up * down) - math.log(probability / 2.0)) / (inverse * _EXPONENTS)
    return math.floor(float(bounds.min()))
