"""Noise and noisy choices, drawn and accounted for by OpenDP in exact arithmetic, from the system's secure source."""

from collections.abc import Sequence

import numpy as np
import opendp.prelude as dp
from numpy.typing import NDArray

# Without this, OpenDP offers only what has a fully vetted proof.
dp.enable_features("contrib")


def noisy(counts: NDArray[np.int64], deviation: float) -> NDArray[np.float64]:
    """Return counts with discrete Gaussian noise (Canonne, Kamath and Steinke 2020), whose integers hide no digits."""
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
