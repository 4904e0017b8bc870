"""The reconstructed reference of an attribute, on its way between workers and the catalogue."""

from collections.abc import Mapping
from dataclasses import dataclass

from aegis_advisor.reconstruction import Certificate
from app.domain.arrays import PackedArray


@dataclass(frozen=True, slots=True)
class PackedReference:
    """A reference as it is stored: the arrays of an advisor's reference by name, its bounds and its certificate."""

    attribute: int
    arrays: Mapping[str, PackedArray]
    information_bound: float | None
    certificate: Certificate
    ceilings: Mapping[str, float]
