"""The controls, one after the other."""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aegis_provider.control.controls import Changes, Controlled, Controls
from aegis_provider.control.min_cell import hold_min_cell
from aegis_provider.control.promises import Roles
from aegis_provider.control.rounding import RandomBytes, round_counts
from aegis_provider.progress import Progress


def control_entry(
    entry: Mapping[str, Any],
    controls: Controls,
    roles: Roles,
    *,
    random_bytes: RandomBytes = secrets.token_bytes,
    progress: Progress = lambda _done, _cells: None,
) -> Controlled:
    """A new entry whose counts went through the controls, declared, and what that took; merging comes before rounding.

    `entry`: as `summarize` returns it. `roles`: of its attributes, for what still holds of what configurations vouch
    for. `random_bytes`: for the rounding. Noise draws from the system by itself, and tells `progress` of its cells.
    Raises `ControlError` where the entry cannot go through them.
    """
    found, changes = dict(entry), Changes()
    if controls.min_cell is not None:
        found, changes = hold_min_cell(found, controls.min_cell, roles)
    if controls.round_to is not None:
        found, rounded = round_counts(found, controls.round_to, random_bytes)
        changes = replace(changes, tables=(*changes.tables, *rounded.tables))
    if controls.epsilon is not None:
        from aegis_provider.control.noise import add_noise  # noqa: PLC0415 - an extra of its own, and slow to load

        found, changes = add_noise(found, controls.epsilon, controls.split, progress)
    declared = {"disclosure_control": controls.declared()} if controls else {}
    return Controlled({**found, **declared}, controls, changes)
