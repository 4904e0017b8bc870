"""Privacy guarantees of configurations after merging: those still valid without reading the table again."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from aegis_provider.privacy import CRITERIA
from aegis_sdk.wire import SUPPRESSED, Configuration


@dataclass(frozen=True)
class Roles:
    """The quasi-identifiers, which may identify people, and the sensitive attributes, which must stay secret."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]


@dataclass(frozen=True)
class ValidPromises:
    """The configurations with the privacy guarantees that are still valid.

    Attributes:
        configurations: The configurations with the remaining guarantees.
        lost: The names of the lost guarantees, by id.
        recount: The ids of the configurations whose suppressed records or cells may have changed.
    """

    configurations: tuple[Configuration, ...]
    lost: dict[str, tuple[str, ...]]
    recount: tuple[str, ...]


_Merged: TypeAlias = Collection[tuple[str, str]]


def valid_promises(configurations: Sequence[Configuration], merged: _Merged, roles: Roles) -> ValidPromises:
    """Return the guarantees that are valid after the maskings in `merged` (attribute, id) have become coarser.

    `CRITERIA` says which merging each criterion survives. Merged classes are mixtures, and most criteria are no worse
    on a mixture than on its worst part. Merged sensitive values are fewer and more frequent.
    """
    kept, lost, recount = [], {}, []
    for configuration in configurations:
        coarser = {name for name, masking in configuration.maskings.items() if (name, masking) in merged}
        names = _lost(configuration.privacy or {}, coarser, roles)
        left = {name: number for name, number in (configuration.privacy or {}).items() if name not in names}
        if names:
            lost[configuration.id] = names
        reclassed = bool(coarser.intersection((*roles.quasi_identifiers, *roles.sensitive)))
        suppresses = any(getattr(configuration, name) is not None for name in SUPPRESSED)
        recounted = dict.fromkeys(SUPPRESSED) if reclassed and suppresses else {}
        if recounted:
            recount.append(configuration.id)
        kept.append(configuration.model_copy(update={"privacy": left or None, **recounted}))
    return ValidPromises(tuple(kept), lost, tuple(recount))


def _lost(privacy: Mapping[str, float], coarser: set[str], roles: Roles) -> tuple[str, ...]:
    classes_merge = bool(coarser.intersection(roles.quasi_identifiers))
    values_merge = bool(coarser.intersection(roles.sensitive))
    return tuple(
        name
        for name in privacy
        if (classes_merge and not CRITERIA[name].survives_merged_classes)
        or (values_merge and not CRITERIA[name].survives_merged_values)
    )
