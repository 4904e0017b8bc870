"""Masking configurations as integer codes, and what the provider vouches for each of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.domain.arrays import PackedArray
from app.domain.errors import InvalidDocumentError

#: Guarantees of which more is better; of the others (`t`, `alpha`, `epsilon`, ...) less is.
AT_LEAST = frozenset({"k", "l", "entropy_l"})


@dataclass(frozen=True, slots=True)
class PackedConfigurations:
    """A configuration table as it is stored: ids as compressed JSON, codes and guarantees as packed arrays."""

    ids: bytes
    codes: PackedArray
    privacy: Mapping[str, PackedArray]


@dataclass(frozen=True, slots=True, eq=False)
class ConfigurationTable:
    """All configurations of an entry's version, in the order given.

    Attributes:
        ids: of the configurations.
        options: for each attribute the masking ids that configurations may use, `identity` and `drop` among them.
        codes: (configurations, attributes) indices into `options`.
        privacy: by guarantee, a value per configuration, NaN where the provider does not vouch for one.
    """

    ids: tuple[str, ...]
    options: tuple[tuple[str, ...], ...]
    codes: NDArray[np.integer[Any]]
    privacy: Mapping[str, NDArray[np.float64]]

    def meeting(self, require: Mapping[str, float] | None) -> NDArray[np.bool_]:
        """Which configurations vouch for at least what `require` asks: a mask (configurations,).

        Raises:
            InvalidDocumentError: none is left; it says how many fell to which requirement.
        """
        kept = np.ones(len(self.ids), dtype=bool)
        fell = {}
        for guarantee, wanted in (require or {}).items():
            met = self._meets(guarantee, wanted)
            fell[f"{guarantee} {'>=' if guarantee in AT_LEAST else '<='} {wanted:g}"] = int((~met).sum())
            kept &= met
        if not kept.any():
            reasons = ", ".join(f"{count} do not vouch for {requirement}" for requirement, count in fell.items())
            raise InvalidDocumentError(
                f"No configuration is left: of {len(self.ids)}, {reasons}.", code="no_configuration_left"
            )
        return kept

    def _meets(self, guarantee: str, wanted: float) -> NDArray[np.bool_]:
        vouched = self.privacy.get(guarantee)
        if vouched is None:
            return np.zeros(len(self.ids), dtype=bool)
        # NaN compares false both ways: what is not vouched for is never met.
        return vouched >= wanted if guarantee in AT_LEAST else vouched <= wanted
