"""What configurations vouch for once masked values are merged: what still holds without another look at the table."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from aegis_provider.privacy import CRITERIA
from aegis_sdk.wire import Configuration


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

    What each criterion survives its record says: classes that merge are mixtures, and of a mixture most are no worse
    than of its worst part; sensitive values that merge are fewer and more frequent.
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
    classes_merge = bool(coarser.intersection(roles.quasi_identifiers))
    values_merge = bool(coarser.intersection(roles.sensitive))
    return tuple(
        name
        for name in privacy
        if (classes_merge and not CRITERIA[name].survives_merged_classes)
        or (values_merge and not CRITERIA[name].survives_merged_values)
    )
