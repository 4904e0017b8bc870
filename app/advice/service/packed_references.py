"""References as bytes: every array of the advisor's reference by its name."""

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.atoms import AtomStatistics
from aegis_advisor.reconstruction import Reference
from app.advice.model.advice import PackedReference
from app.platform.database.arrays import pack, unpack

_REFINED = "refined_"
"""The names of the stored tables of what exact views determine together, before their number."""


def pack_reference(place: int, reference: Reference) -> PackedReference:
    """Pack the reference of the attribute at a place."""
    arrays: dict[str, NDArray[Any]] = {"atom_of_value": reference.atom_of_value, "joint": reference.joint}
    arrays |= asdict(reference.statistics)
    arrays |= {f"{_REFINED}{number}": table for number, table in enumerate(reference.refined)}
    packed = {name: pack(array) for name, array in arrays.items()}
    return PackedReference(place, packed, reference.information_bound, reference.certificate, reference.ceilings)


def unpack_reference(packed: PackedReference) -> Reference:
    """Unpack a reference."""
    arrays: dict[str, NDArray[Any]] = {name: unpack(array) for name, array in packed.arrays.items()}
    atom_of_value = arrays.pop("atom_of_value").astype(np.int32)
    joint = arrays.pop("joint")
    refined = tuple(arrays.pop(name) for name in packed.arrays if name.startswith(_REFINED))
    statistics = AtomStatistics(**arrays)
    bound, ceilings = packed.information_bound, packed.ceilings
    return Reference(atom_of_value, joint, statistics, bound, packed.certificate, ceilings, refined)
