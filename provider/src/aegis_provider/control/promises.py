"""What configurations vouch for once masked values are merged: what still holds without another look at the table."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from aegis_sdk.wire import Configuration

_LOST_BY_CLASSES: Final = frozenset({"delta_disclosure"})
_LOST_BY_VALUES: Final = frozenset({"l", "entropy_l", "ordered_t", "alpha", "delta_disclosure"})


@dataclass(frozen=True)
class Roles:
    """The attributes by which someone may know a person, and those of which nobody should learn."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]


@dataclass(frozen=True)
class Vouched:
    """The configurations with what of their privacy still holds.

    `lost`: by id, the names of what does not. `recount`: those that leave records out, perhaps others by now.
    """

    configurations: tuple[Configuration, ...]
    lost: dict[str, tuple[str, ...]]
    recount: tuple[str, ...]


_Merged: TypeAlias = Collection[tuple[str, str]]


def still_vouched(configurations: Sequence[Configuration], merged: _Merged, roles: Roles) -> Vouched:
    """What holds of configurations, of whose maskings those in `merged` (attribute, id) have become coarser.

    Classes that merge are mixtures: `k` and `l` can only grow; entropy is concave, the distances of `t` and `ordered_t`
    are convex, and so are the largest share (`alpha`) and gain (`beta`): of a mixture none is worse than of the worst
    part. `delta_disclosure` passes over values that a class lacks, so a mixture may be worse. Sensitive values that
    merge leave `k` as it is and bring distributions nearer (`t`, `beta`), but are fewer (`l`, `entropy_l`) and more
    frequent (`alpha`), and of another order (`ordered_t`). `epsilon` holds of whatever is made of a release.
    """
    kept, lost, recount = [], {}, []
    for each in configurations:
        coarser = {name for name, masking in each.maskings.items() if (name, masking) in merged}
        names = _lost(each.privacy or {}, coarser, roles)
        left = {name: number for name, number in (each.privacy or {}).items() if name not in names}
        if names:
            lost[each.id] = names
        reclassed = bool(coarser.intersection((*roles.quasi_identifiers, *roles.sensitive)))
        recounted = reclassed and each.suppressed is not None
        if recounted:
            recount.append(each.id)
        kept.append(each.model_copy(update={"privacy": left or None, **({"suppressed": None} if recounted else {})}))
    return Vouched(tuple(kept), lost, tuple(recount))


def _lost(privacy: Mapping[str, float], coarser: set[str], roles: Roles) -> tuple[str, ...]:
    lost = _LOST_BY_CLASSES if coarser.intersection(roles.quasi_identifiers) else frozenset()
    lost |= _LOST_BY_VALUES if coarser.intersection(roles.sensitive) else frozenset()
    return tuple(name for name in privacy if name in lost)
