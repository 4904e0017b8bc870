"""The order of growth: the exponent of a power of the size."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import linregress
from scipy.stats import t as student


class Exponent(NamedTuple):
    """An exponent of growth, and the half-width of its 95 % interval."""

    value: float
    half_width: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ± {self.half_width:.2f}"


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> Exponent:
    """Return the `b` of `cost = a size^b` by least squares in logarithms.

    Repeated measurements of a size count one by one. Where costs do not follow a power, the interval is wide.
    """
    fit = linregress(np.log(sizes), np.log(costs))
    return Exponent(float(fit.slope), float(student.ppf(0.975, len(sizes) - 2) * fit.stderr))


def last_exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the exponent between the two largest sizes alone, by the median cost of each."""
    every, cost = np.array(sizes), np.array(costs)
    last = np.unique(every)[-2:]
    medians = [np.median(cost[every == size]) for size in last]
    return float(np.diff(np.log(medians))[0] / np.diff(np.log(last))[0])
