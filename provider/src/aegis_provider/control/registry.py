"""The registry of disclosure controls, and an entry's way through them."""

from collections.abc import Sequence
from itertools import permutations
from typing import Final

from aegis_provider.control.control import Changes, Control, ControlError, Controlled
from aegis_provider.control.minimum_cell import MinimumCell
from aegis_provider.control.noise import LaplaceNoise
from aegis_provider.control.promises import Roles
from aegis_provider.control.rounding import RandomRounding
from aegis_provider.progress import Progress
from aegis_sdk.wire import DisclosureControl, EntryDocument

CONTROLS: Final[tuple[type[Control], ...]] = (MinimumCell, RandomRounding, LaplaceNoise)
"""Every control, in the order in which counts go through them: values are merged by exact counts."""


def refuse_conflicts(controls: Sequence[Control]) -> None:
    """Refuses controls that cannot be asked for together, and what is none.

    Raises:
        ControlError: Two of them contradict each other, one is there twice, or one is not in the registry.
    """
    for control in controls:
        if type(control) not in CONTROLS:
            raise ControlError(f"{type(control).__name__} is not a registered control")
    for one, other in permutations(controls, 2):
        if type(one) is type(other):
            raise ControlError(f"{type(one).__name__} is asked for twice")
        if reason := one.conflict_with(other):
            raise ControlError(reason)


def apply_controls(
    entry: EntryDocument,
    controls: Sequence[Control],
    roles: Roles,
    *,
    progress: Progress = lambda _done, _cells: None,
) -> Controlled:
    """The entry with its counts through the controls, declared, and what that changed.

    Args:
        entry: As `summarize` makes it.
        controls: Those asked for, in any order.
        roles: Of its attributes, for what still holds of what configurations vouch for.
        progress: Is told of the cells that have their noise.

    Raises:
        ControlError: The controls contradict each other, or the entry cannot go through them.
    """
    refuse_conflicts(controls)
    ordered = tuple(sorted(controls, key=lambda control: CONTROLS.index(type(control))))
    changes = Changes()
    for control in ordered:
        entry, later = control.apply(entry, roles, progress)
        changes = changes.followed_by(later)
    controlled = Controlled(entry, ordered, changes)
    if not ordered:
        return controlled
    declared = DisclosureControl(**controlled.declared())
    return Controlled(entry.model_copy(update={"disclosure_control": declared}), ordered, changes)
