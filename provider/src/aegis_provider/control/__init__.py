"""Disclosure controls, which change the counts of an entry before publication so that they disclose less."""

from aegis_provider.control.control import (
    Beside,
    Changes,
    Control,
    ControlError,
    Controlled,
    NoisyTable,
    without_unshared,
)
from aegis_provider.control.controlled_plan import controlled_plan, with_suppressed, write_controlled_plan
from aegis_provider.control.lasting import LastingRandomness
from aegis_provider.control.minimum_cell import MinimumCell
from aegis_provider.control.noise import LaplaceNoise, Split
from aegis_provider.control.published_privacy import coarse_privacy, with_published_privacy
from aegis_provider.control.registry import CONTROLS, apply_controls, refuse_conflicts
from aegis_provider.control.rounding import RandomRounding, base_for
from aegis_provider.plan.model import Roles

__all__ = [
    "CONTROLS",
    "Beside",
    "Changes",
    "Control",
    "ControlError",
    "Controlled",
    "LaplaceNoise",
    "LastingRandomness",
    "MinimumCell",
    "NoisyTable",
    "RandomRounding",
    "Roles",
    "Split",
    "apply_controls",
    "base_for",
    "coarse_privacy",
    "controlled_plan",
    "refuse_conflicts",
    "with_published_privacy",
    "with_suppressed",
    "without_unshared",
    "write_controlled_plan",
]
