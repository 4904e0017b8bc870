"""Masking configurations as integer codes, and what the provider vouches for each of them."""

from collections.abc import Mapping
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

    def meeting(self, at_least: Mapping[str, float] | None, at_most: Mapping[str, float] | None) -> NDArray[np.bool_]:
        """Which configurations vouch for what is required: a mask (configurations,).

        Args:
            at_least: by guarantee, where more is better.
            at_most: by guarantee, where less is.

        Raises:
            InvalidDocumentError: none is left; it says how many fell to which requirement.
        """
        # NaN compares false both ways: what is not vouched for is never met.
        met = {f"{name} >= {wanted:g}": self._vouched(name) >= wanted for name, wanted in (at_least or {}).items()}
        met |= {f"{name} <= {wanted:g}": self._vouched(name) <= wanted for name, wanted in (at_most or {}).items()}
        kept = np.logical_and.reduce([np.ones(len(self.ids), dtype=bool), *met.values()])
        if not kept.any():
            reasons = ", ".join(f"{int((~those).sum())} do not vouch for {what}" for what, those in met.items())
            raise InvalidDocumentError(
                f"No configuration is left: of {len(self.ids)}, {reasons}.", code="no_configuration_left"
            )
        return np.asarray(kept)

    def _vouched(self, guarantee: str) -> NDArray[np.float64]:
        return self.privacy.get(guarantee, np.full(len(self.ids), np.nan))
