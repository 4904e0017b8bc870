"""Zero-concentrated differential privacy (zCDP) with additive budgets rho, and the implied (epsilon, delta)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import opendp.prelude as dp
import scipy
from numpy.typing import NDArray

# Otherwise OpenDP offers only functions with fully vetted proofs.
dp.enable_features("contrib")


def noisy(counts: NDArray[np.int64], deviation: float) -> NDArray[np.float64]:
    """Return counts with discrete Gaussian noise (Canonne, Kamath and Steinke 2020), free of floating-point
    artefacts.
    """
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    measurement = dp.m.make_gaussian(*space, scale=deviation)
    return np.array(measurement(counts.ravel().tolist()), dtype=np.float64).reshape(counts.shape)


def noisy_largest(scores: Sequence[int], rho: float) -> int:
    """Return the place of a large score by the exponential mechanism.

    Args:
        scores: One record changes each by at most 1.
        rho: The budget. A choice with probabilities as exp(epsilon score / 2) is epsilon^2 / 8-zCDP (Cesar and Rogers
            2021, "Bounding, concentrating, and truncating"); Gumbel noise of scale 2 / epsilon makes it.
    """
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    scale = 2 / np.sqrt(8 * rho)
    return int(dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=float(scale))(list(scores)))


_LEAST: Final = 1e-15
"""Relative step for lowering a budget that rounding made too large."""


_ROUNDING: Final = 1e-12
"""Unused share of the budget, so that rounding never exceeds it."""

STEPS: Final[Mapping[str, float]] = {
    "how many records there are": 0.02,
    "the levels of each column": 0.23,
    "the counts of each column": 0.25,
    "the choice of pairs": 0.25,
    "the counts of these pairs": 0.25,
}
"""The share of rho of each step that looks at records. All other steps use only the results of these."""

_RARE: Final = 0.5
"""The share of delta for values of a single record; see `levels.py`."""


@dataclass(frozen=True)
class Budget:
    """The budgets of the steps.

    Attributes:
        records: The rho of the noisy number of records.
        levels: The rho for choosing levels.
        rare: The probability that a value of a single record becomes a level.
        tree: The rho of the tree: the counts of columns, the choice of pairs, and their counts.
    """

    records: float
    levels: float
    rare: float
    tree: float

    @classmethod
    def of(cls, epsilon: float, delta: float) -> Self:
        """Divide (epsilon, delta).

        If all but an event of the probability `rare` is rho-zCDP, the whole is (epsilon, rare + delta')-differentially
        private for each (epsilon, delta') that rho implies (Bun and Steinke 2016, section 8: rho and `rare` add up).
        """
        rare = _RARE * delta
        rho = rho_of(epsilon, delta - rare) * (1 - _ROUNDING)
        records, levels, *tree = (share * rho for share in STEPS.values())
        return cls(records, levels, rare, sum(tree))


def log_delta_of(rho: float, epsilon: float) -> float:
    """Return the logarithm of a delta such that rho-zCDP implies (epsilon, delta)-differential privacy.

    Canonne, Kamath and Steinke 2020, section 2.3: any alpha > 1 gives one,

        delta = exp((alpha - 1)(alpha rho - epsilon)) / (alpha - 1) * (1 - 1 / alpha)^alpha,

    and the least is where (2 alpha - 1) rho - epsilon + log(1 - 1 / alpha) is 0. It is less than the delta of Bun and
    Steinke 2016, proposition 1.3.

    Args:
        rho: The budget of zCDP, more than 0.
        epsilon: At least 0.
    """

    def slope(log: float) -> float:
        return (1 + 2 * math.exp(log)) * rho - epsilon + log - math.log1p(math.exp(log))

    # The variable is log(alpha - 1), since alpha may be 1 + 1e-10 or 1e10. The slope is negative at the first bound
    # and positive at the second.
    log = scipy.optimize.brentq(slope, -3 * rho - 1, math.log1p((epsilon + 1) / (2 * rho)), xtol=1e-12)
    over, ratio = math.exp(log), log - math.log1p(math.exp(log))
    return min(0.0, over * ((1 + over) * rho - epsilon) + (1 + over) * ratio - log)


def rho_of(epsilon: float, delta: float) -> float:
    """Return the largest rho, up to rounding, such that rho-zCDP implies (epsilon, delta)-differential privacy.

    Args:
        epsilon: More than 0.
        delta: In (0, 1).
    """

    def excess(log_rho: float) -> float:
        return log_delta_of(math.exp(log_rho), epsilon) - math.log(delta)

    low = high = math.log(epsilon)
    while excess(low) > 0:
        low -= 1
    while excess(high) < 0:
        high += 1
    rho, step = math.exp(scipy.optimize.brentq(excess, low, high, xtol=1e-12)), _LEAST
    while log_delta_of(rho, epsilon) > math.log(delta):
        rho, step = rho * (1 - step), 2 * step
    return rho
