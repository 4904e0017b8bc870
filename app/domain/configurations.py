"""Masking configurations as integer codes, and the privacy that the provider vouches for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.domain.arrays import PackedArray
from app.domain.errors import InvalidDocumentError
from app.domain.required_privacy import NOTHING_REQUIRED, RequiredPrivacy


@dataclass(frozen=True, slots=True)
class PackedConfigurations:
    """A configuration table as stored: ids as compressed JSON, codes and privacy as packed arrays."""

    ids: bytes
    codes: PackedArray
    privacy: Mapping[str, PackedArray]


@dataclass(frozen=True, slots=True, eq=False)
class ConfigurationTable:
    """All configurations of an entry's version, in the order given.

    Attributes:
        ids: the ids of the configurations; empty if they were not unpacked.
        options: for each attribute, the masking ids that configurations may use, including `identity` and `drop`.
        codes: (configurations, attributes) indices into `options`.
        privacy: by criterion, a value for each configuration; NaN where the provider does not vouch for one.
    """

    ids: tuple[str, ...]
    options: tuple[tuple[str, ...], ...]
    codes: NDArray[np.integer[Any]]
    privacy: Mapping[str, NDArray[np.float64]]

    def meeting(
        self,
        at_least: Mapping[str, float] | None,
        at_most: Mapping[str, float] | None,
        policy: RequiredPrivacy = NOTHING_REQUIRED,
    ) -> NDArray[np.bool_]:
        """A mask (configurations,) of those that vouch for all that is required.

        Args:
            at_least: lower limits by criterion, for those where higher is better.
            at_most: upper limits by criterion, for those where lower is better.
            policy: what is required besides, of every question.

        Raises:
            InvalidDocumentError: no configuration is left; the error counts those that fail each requirement.
        """
        # NaN compares false both ways, so a configuration that does not vouch for a criterion never meets it.
        asked = RequiredPrivacy(at_least or {}, at_most or {})
        met = self._meeting(asked) | self._meeting(policy, ", which a policy requires")
        kept = np.logical_and.reduce([np.ones(self.codes.shape[0], dtype=bool), *met.values()])
        if not kept.any():
            reasons = ", ".join(f"{int((~those).sum())} do not vouch for {what}" for what, those in met.items())
            raise InvalidDocumentError(
                f"No configuration meets all requirements: of {self.codes.shape[0]}, {reasons}.",
                code="no_configuration_left",
            )
        return np.asarray(kept)

    def _meeting(self, required: RequiredPrivacy, by_whom: str = "") -> dict[str, NDArray[np.bool_]]:
        """For each limit, in words, a mask of the configurations that vouch for it."""
        words = dict(required.in_words())
        met = {name: self._vouched(name) >= limit for name, limit in required.at_least.items()}
        met |= {name: self._vouched(name) <= limit for name, limit in required.at_most.items()}
        return {words[name] + by_whom: those for name, those in met.items()}

    def _vouched(self, guarantee: str) -> NDArray[np.float64]:
        return self.privacy.get(guarantee, np.full(self.codes.shape[0], np.nan))
