"""The registry of disclosure controls, and their application to an entry."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Final

from aegis_provider.control.control import Beside, Changes, Control, ControlError, Controlled
from aegis_provider.control.minimum_cell import MinimumCell
from aegis_provider.control.noise import LaplaceNoise
from aegis_provider.control.rounding import RandomRounding
from aegis_provider.plan.model import Roles
from aegis_provider.processes import Progress
from aegis_sdk.wire import DisclosureControl, EntryDocument

CONTROLS: Final[tuple[type[Control], ...]] = (MinimumCell, RandomRounding, LaplaceNoise)
"""Every control, in the order of application: merging comes first, since it needs exact counts."""


def refuse_conflicts(controls: Sequence[Control]) -> None:
    """Reject controls that cannot be combined or are not registered.

    Raises:
        ControlError: Two controls contradict each other, one is given twice, or one is not in the registry.
    """
    for control in controls:
        if type(control) not in CONTROLS:
            raise ControlError(f"{type(control).__name__} is not a registered control")
    for one, other in permutations(controls, 2):
        if type(one) is type(other):
            raise ControlError(f"{type(one).__name__} is given twice")
        if reason := one.conflict_with(other):
            raise ControlError(reason)


def apply_controls(
    entry: EntryDocument,
    controls: Sequence[Control],
    roles: Roles,
    *,
    beside: Beside = Beside(),  # noqa: B008 - immutable
    progress: Progress = lambda _done, _cells: None,
) -> Controlled:
    """Apply the controls to the counts of the entry, and declare them in it.

    Args:
        entry: The entry from `summarize`.
        controls: The controls to apply, in any order.
        roles: The roles of its attributes, which decide which privacy guarantees of configurations are still valid.
        beside: The knowledge of `summarize_shared` beyond the entry. Without label sums, noise leaves out the
            associations of pairs with the label.
        progress: Called with the cells that have received noise.

    Returns:
        The controlled entry and its changes.

    Raises:
        ControlError: The controls contradict each other or cannot be applied to the entry.
    """
    refuse_conflicts(controls)
    ordered = tuple(sorted(controls, key=lambda control: CONTROLS.index(type(control))))
    beside = replace(beside, rounds=any(isinstance(each, RandomRounding) for each in ordered))
    changes = Changes()
    for control in ordered:
        entry, later = control.knowing(beside).apply(entry, roles, progress)
        changes = changes.followed_by(later)
    controlled = Controlled(entry, ordered, changes)
    if not ordered:
        return controlled
    declared = DisclosureControl(**controlled.declared())
    return Controlled(entry.model_copy(update={"disclosure_control": declared}), ordered, changes)
