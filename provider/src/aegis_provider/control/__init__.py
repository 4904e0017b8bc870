"""Disclosure controls, which change the counts of an entry before publication so that they disclose less."""

from aegis_provider.control.control import (
    Changes,
    Control,
    ControlError,
    Controlled,
    MergedMasking,
    MergedValues,
    NoisyTable,
)
from aegis_provider.control.controlled_plan import controlled_plan, with_suppressed, write_controlled_plan
from aegis_provider.control.minimum_cell import MinimumCell
from aegis_provider.control.noise import LaplaceNoise, Split
from aegis_provider.control.promises import Roles
from aegis_provider.control.registry import CONTROLS, apply_controls, refuse_conflicts
from aegis_provider.control.rounding import RandomRounding

__all__ = [
    "CONTROLS",
    "Changes",
    "Control",
    "ControlError",
    "Controlled",
    "LaplaceNoise",
    "MergedMasking",
    "MergedValues",
    "MinimumCell",
    "NoisyTable",
    "RandomRounding",
    "Roles",
    "Split",
    "apply_controls",
    "controlled_plan",
    "refuse_conflicts",
    "with_suppressed",
    "write_controlled_plan",
]
