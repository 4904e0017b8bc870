"""Discrete Laplace noise, drawn and accounted for by OpenDP."""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import opendp.prelude as dp


def laplace(scale: float) -> "dp.Measurement":
    """Return OpenDP's discrete Laplace noise for a list of integers.

    It is sampled in exact arithmetic (Canonne, Kamath and Steinke 2020), so that no digit of a double reveals the
    count.
    """
    import opendp.prelude as dp  # noqa: PLC0415 - an extra, and slow to load

    # Without this, OpenDP offers only functions with a fully vetted proof.
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return dp.m.make_laplace(*space, scale=scale)


def epsilon_of(scale: float, sensitivity: int = 1) -> float:
    """Return the epsilon that OpenDP proves for noise of this scale on integers with this sensitivity."""
    return float(laplace(scale).map(sensitivity))  # type: ignore[no-untyped-call]


def scale_for(epsilon: float) -> float:
    """Return the least scale, up to rounding, for which OpenDP proves that counts of sensitivity 1 use this epsilon."""
    scale = 1.0 / epsilon
    while epsilon_of(scale) > epsilon:
        scale = math.nextafter(scale, math.inf)
    return scale
