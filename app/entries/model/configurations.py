"""Masking configurations as integer codes, with their promised privacy."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.entries.model.transfers import NO_FIGURES, Figures
from app.platform.database.arrays import PackedArray
from app.platform.errors import InvalidDocumentError
from app.tenants.model import NOTHING_REQUIRED, RequiredPrivacy

#: The kinds of configurations, in the order of the contract.
MASKED, GENERATED = "masked", "generated"

#: The kinds that questions rank by default.
MASKED_ONLY = (MASKED,)


@dataclass(frozen=True, slots=True)
class PackedConfigurations:
    """A configuration table as stored: ids as compressed JSON, the rest as packed arrays.

    Attributes:
        declared: additions of format 2: which configurations are generated, and transfer utilities. Empty for format 1.
    """

    ids: bytes
    codes: PackedArray
    privacy: Mapping[str, PackedArray]
    declared: Mapping[str, PackedArray] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class ConfigurationTable:
    """All configurations of an entry's version, in the order given.

    Attributes:
        ids: the ids of the configurations; empty if not unpacked.
        options: for each attribute, the masking ids that configurations may use, including `identity` and `drop`.
        codes: (configurations, attributes) indices into `options`; a generated one has those of `drop`.
        privacy: by criterion, the promised number of each configuration; NaN without a promise.
        generated: (configurations,) whether each is generated; None if none is.
        figures: the declared transfer utilities.
    """

    ids: tuple[str, ...]
    options: tuple[tuple[str, ...], ...]
    codes: NDArray[np.integer[Any]]
    privacy: Mapping[str, NDArray[np.float64]]
    generated: NDArray[np.bool_] | None = None
    figures: Figures = NO_FIGURES

    def of_kinds(self, kinds: Collection[str]) -> NDArray[np.bool_]:
        """A mask (configurations,) of these kinds."""
        generated = np.zeros(self.codes.shape[0], dtype=bool) if self.generated is None else self.generated
        return np.where(generated, GENERATED in kinds, MASKED in kinds)

    def meeting(
        self,
        at_least: Mapping[str, float] | None,
        at_most: Mapping[str, float] | None,
        policy: RequiredPrivacy = NOTHING_REQUIRED,
        kinds: Collection[str] = MASKED_ONLY,
    ) -> NDArray[np.bool_]:
        """A mask (configurations,) of those that promise all required privacy.

        Args:
            at_least: lower limits by criterion, for those where higher is better.
            at_most: upper limits by criterion, for those where lower is better.
            policy: further requirements for every question.
            kinds: the kinds that compete.

        Raises:
            InvalidDocumentError: no configuration is left; the error counts those that fail each requirement.
        """
        # NaN compares false both ways, so a configuration without a promise never meets a limit.
        asked = RequiredPrivacy(at_least or {}, at_most or {})
        met = self._meeting(asked) | self._meeting(policy, ", which a policy requires")
        competing = self.of_kinds(kinds)
        kept = np.logical_and.reduce([competing, *met.values()])
        if not kept.any():
            raise InvalidDocumentError(_why_none(competing, met, kinds), code="no_configuration_left")
        return np.asarray(kept)

    def _meeting(self, required: RequiredPrivacy, by_whom: str = "") -> dict[str, NDArray[np.bool_]]:
        """A mask of the configurations that meet each limit, by the limit in words."""
        words = dict(required.in_words())
        met = {name: self._vouched(name) >= limit for name, limit in required.at_least.items()}
        met |= {name: self._vouched(name) <= limit for name, limit in required.at_most.items()}
        return {words[name] + by_whom: those for name, those in met.items()}

    def _vouched(self, guarantee: str) -> NDArray[np.float64]:
        return self.privacy.get(guarantee, np.full(self.codes.shape[0], np.nan))


def _why_none(competing: NDArray[np.bool_], met: Mapping[str, NDArray[np.bool_]], kinds: Collection[str]) -> str:
    """Say why no configuration is left: how many each requirement excludes, or that there is none of these kinds."""
    if not competing.any():
        other = GENERATED if MASKED in kinds else MASKED
        return f"The entry has no {' or '.join(kinds)} configuration. Ask with `kinds` that include {other!r}."
    reasons = ", ".join(f"{int((competing & ~those).sum())} do not promise {what}" for what, those in met.items())
    return f"No configuration meets all requirements: of {int(competing.sum())}, {reasons}."
