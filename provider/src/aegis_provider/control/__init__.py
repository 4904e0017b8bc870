"""Controls that the counts of an entry go through before they are published, so that they give away less.

controlled = control_entry(entry, Controls(min_cell=5), Roles(plan.quasi_identifiers, plan.sensitive))
controlled.entry, controlled.changes.listed()
"""

from aegis_provider.control.controlled_plan import (
    controlled_plan,
    with_suppressed,
    write_controlled_plan,
)
from aegis_provider.control.controls import (
    Changes,
    ControlError,
    Controlled,
    Controls,
    MergedMasking,
    MergedValues,
    NoisyTable,
    Split,
)
from aegis_provider.control.entry import control_entry
from aegis_provider.control.promises import Roles
from aegis_provider.control.small_counts import SMALL, SmallCounts, small_counts

__all__ = [
    "SMALL",
    "Changes",
    "ControlError",
    "Controlled",
    "Controls",
    "MergedMasking",
    "MergedValues",
    "NoisyTable",
    "Roles",
    "SmallCounts",
    "Split",
    "control_entry",
    "controlled_plan",
    "small_counts",
    "with_suppressed",
    "write_controlled_plan",
]
