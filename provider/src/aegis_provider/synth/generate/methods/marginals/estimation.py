"""The graphical model that fits noisy marginals best, by the library `mbi` (Private-PGM)."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Final

import jax
import numpy as np
from numpy.typing import NDArray

from aegis_provider.synth.generate.methods.marginals.groups import Groups
from aegis_provider.synth.generate.methods.marginals.tree import Pair

with warnings.catch_warnings(), jax.enable_x64(True):
    # It warns about settings of JAX, whose cache of compiled programs is not ours to turn off.
    warnings.simplefilter("ignore")
    import mbi

_MOST_STEPS: Final = 20_000
_TOLERANCE: Final = 1e-6
"""The relative decrease of the loss over 50 steps at which the estimation ends."""


def estimated(
    groups: Sequence[Groups], pairs: Mapping[Pair, NDArray[np.float64]], deviation: float
) -> dict[tuple[int, ...], NDArray[np.float64]]:
    """Return consistent marginals that fit the noisy ones of single columns and of pairs.

    These are the marginals of the distribution of most entropy among those that minimise the sum of squared differences
    over their variances (McKenna, Sheldon and Miklau 2019, "Graphical-model based estimation and inference for
    differential privacy"). It uses double precision: with single precision the estimation stalls.

    Args:
        groups: The groups of each column, with their noisy counts.
        pairs: (groups of the one, groups of the other) The noisy counts of each pair of a tree.
        deviation: The standard deviation of the noise on these.

    Returns:
        The marginal of each pair and of the last column; none is negative.
    """
    domain = mbi.Domain(range(len(groups)), [each.size for each in groups])
    total = max(1.0, float(np.mean([each.noisy.sum() for each in groups])))
    asked = [*pairs, (len(groups) - 1,)]
    with jax.enable_x64(True):
        measurements = [_single(column, each) for column, each in enumerate(groups)]
        measurements += [mbi.LinearMeasurement(counts.ravel(), pair, deviation) for pair, counts in pairs.items()]
        model = mbi.estimation.MirrorDescent().estimate(
            domain, measurements, known_total=total, iters=_MOST_STEPS, tol=_TOLERANCE
        )
        return {each: np.maximum(np.asarray(model.project(each).datavector(flatten=False)), 0.0) for each in asked}


def _single(column: int, groups: Groups) -> "mbi.LinearMeasurement":
    """Return the noisy counts of a column, weighted so that all have the same variance."""
    if groups.levels.max() == 1:
        return mbi.LinearMeasurement(groups.counts, (column,), groups.deviation)
    weights = 1 / np.sqrt(groups.levels)
    query = mbi.marginal_loss.WeightedQuery(weights)
    return mbi.LinearMeasurement(groups.counts * weights, (column,), groups.deviation, query)
