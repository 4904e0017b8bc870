"""Masking configurations as integer codes, and what the provider vouches for each of them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.domain.arrays import PackedArray
from app.domain.errors import InvalidDocumentError


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

    def meeting(self, require: Mapping[str, float] | None, at_least: Collection[str]) -> NDArray[np.bool_]:
        """Which configurations vouch for what is required: a mask (configurations,).

        Args:
            require: by guarantee, how much of it.
            at_least: the guarantees of which more is better; of all others there may be at most as much.

        Raises:
            InvalidDocumentError: none is left; it says how many fell to which requirement.
        """
        kept = np.ones(len(self.ids), dtype=bool)
        fell = {}
        for guarantee, wanted in (require or {}).items():
            more_is_better = guarantee in at_least
            met = self._meets(guarantee, wanted, more_is_better=more_is_better)
            fell[f"{guarantee} {'>=' if more_is_better else '<='} {wanted:g}"] = int((~met).sum())
            kept &= met
        if not kept.any():
            reasons = ", ".join(f"{count} do not vouch for {requirement}" for requirement, count in fell.items())
            raise InvalidDocumentError(
                f"No configuration is left: of {len(self.ids)}, {reasons}.", code="no_configuration_left"
            )
        return kept

    def _meets(self, guarantee: str, wanted: float, *, more_is_better: bool) -> NDArray[np.bool_]:
        vouched = self.privacy.get(guarantee)
        if vouched is None:
            return np.zeros(len(self.ids), dtype=bool)
        # NaN compares false both ways: what is not vouched for is never met.
        return vouched >= wanted if more_is_better else vouched <= wanted
