"""How much each column counts where generated records should not be near real ones, and where they should."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.plan.model import Attribute, Plan
from aegis_provider.synth.generate.levels import Codes
from aegis_sdk.cli.signals import held_back

_SALIENCY: Final = 3


def privacy_weights(attributes: Sequence[Attribute]) -> NDArray[np.float64]:
    """(columns,) The weights that the plan states, by default 1; 0 for the label, the last column."""
    return np.array([*(1.0 if each.privacy_weight is None else each.privacy_weight for each in attributes), 0.0])


def importance_weights(
    plan: Plan, attributes: Sequence[Attribute], codes: Codes, sizes: Sequence[int], seed: int
) -> NDArray[np.float64]:
    """(columns,) The weights that the plan states, for other attributes those by saliency, or 1; 0 for the label."""
    stated = np.array([np.nan if each.importance is None else each.importance for each in attributes] + [0.0])
    unstated = np.isnan(stated)
    if not unstated.any():
        return stated
    if not plan.saliency:
        return np.where(unstated, 1.0, stated)
    from aegis_provider.synth.generate.saliency import importance_of  # noqa: PLC0415 - an extra, and slow to load

    with held_back():
        importance = importance_of(codes, sizes, np.random.default_rng([seed, _SALIENCY]))
    return np.where(unstated, importance, stated)
