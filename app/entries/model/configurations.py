"""The configurations of an entry as integer codes, with their promised privacy."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress as selected
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.evidence import DROP, IDENTITY
from app.entries.model.documents import compress, decompress
from app.entries.model.entries import AttributeOutline, PackedConfigurations
from app.entries.model.published import NO_FIGURES, ConfigurationColumns, Figures
from app.platform.database.arrays import pack, unpack
from app.platform.errors import InvalidDocumentError
from app.tenants.model import NOTHING_REQUIRED, RequiredPrivacy

#: The kinds of configurations, in the order of the contract. The second one is also the name of a stored array.
MASKED, GENERATED = "masked", "generated"

#: The kinds that questions rank by default.
MASKED_ONLY = (MASKED,)

#: The name of the stored array of how configurations show the label.
LABEL = "label"

#: The prefix of the name of the stored array of prices, which ends with their currency.
PRICE = "price_"

#: The name of the stored array of numbers of suppressed records.
SUPPRESSED = "suppressed"

#: The names of the stored arrays of transfer utilities.
FIGURE_PLACES, FIGURES = "transfer_places", "transfer"


@dataclass(frozen=True, slots=True, eq=False)
class ConfigurationTable:
    """All configurations of an entry's version, in the order given.

    Attributes:
        ids: the ids of the configurations; empty if not unpacked.
        options: for each attribute, the masking ids that configurations may use, including `identity` and `drop`.
        codes: (configurations, attributes) indices into `options`; a generated one has those of `drop`.
        privacy: by criterion, the promised number of each configuration; NaN without a promise.
        unit: what these numbers count: `PERSON`, or None for records.
        generated: (configurations,) whether each is generated; None if none is.
        label_codes: (configurations,) how each shows the label: 0 as it is, else by its first masking, its second and
            so on; None if all show it as it is.
        price: (configurations,) what each costs in `currency`, NaN where it is not stated; None if none has a price.
        suppressed: (configurations,) the number of suppressed records, likewise.
    """

    ids: tuple[str, ...]
    options: tuple[tuple[str, ...], ...]
    codes: NDArray[np.integer[Any]]
    privacy: Mapping[str, NDArray[np.float64]]
    generated: NDArray[np.bool_] | None = None
    figures: Figures = NO_FIGURES
    unit: str | None = None
    label_codes: NDArray[np.int64] | None = None
    price: NDArray[np.float64] | None = None
    currency: str | None = None
    suppressed: NDArray[np.float64] | None = None

    def of_kinds(self, kinds: Collection[str]) -> NDArray[np.bool_]:
        """A mask (configurations,) of these kinds."""
        generated = np.zeros(self.codes.shape[0], dtype=bool) if self.generated is None else self.generated
        return np.where(generated, GENERATED in kinds, MASKED in kinds)

    def meeting(
        self,
        asked: RequiredPrivacy,
        policy: RequiredPrivacy = NOTHING_REQUIRED,
        kinds: Collection[str] = MASKED_ONLY,
    ) -> NDArray[np.bool_]:
        """A mask (configurations,) of those that promise all required privacy.

        Args:
            asked: what the question requires.
            policy: further requirements for every question.
            kinds: the kinds that compete.

        Raises:
            InvalidDocumentError: no configuration is left; the error counts those that fail each requirement.
        """
        met = self._meeting(asked) | self._meeting(policy, ", which a policy requires")
        competing = self.of_kinds(kinds)
        kept = np.logical_and.reduce([competing, *met.values()])
        if not kept.any():
            raise InvalidDocumentError(_why_none(competing, met, kinds), code="no_configuration_left")
        return np.asarray(kept)

    def showing(
        self,
        place: int,
        default: Sequence[str] = (),
        maskings: Sequence[str] = (),
        counted: Sequence[Sequence[NDArray[np.bool_]]] = (),
    ) -> "ConfigurationTable":
        """The masked configurations that show the attribute at a place, with it as the label.

        The default label is then an attribute at its place.

        Args:
            place: the place of the attribute.
            default: the maskings of the default label.
            maskings: those of the label; configurations with others are left out, and so are those that drop it.
            counted: by masking of the label, for each attribute (options,) whether its counts with it are known;
                configurations that need others are left out.
        """
        options = list(self.options)
        code = {IDENTITY: 0} | {masking: number for number, masking in enumerate(maskings, start=1)}
        label = np.array([code.get(option, -1) for option in options[place]])[self.codes[:, place]]
        shown = self.of_kinds(MASKED_ONLY) & (label >= 0)
        for number, known in enumerate(counted, start=1):
            rows = np.flatnonzero(shown & (label == number))
            for column, each in zip(self.codes[rows].T, known, strict=True):
                shown[rows] &= each[column]
        codes, label = self.codes[shown], label[shown]
        codes[:, place] = 0 if self.label_codes is None else self.label_codes[shown]
        options[place] = (IDENTITY, *default)
        return ConfigurationTable(
            ids=tuple(selected(self.ids, shown)),
            options=tuple(options),
            codes=codes,
            privacy={name: numbers[shown] for name, numbers in self.privacy.items()},
            unit=self.unit,
            label_codes=label if label.any() else None,
            price=None if self.price is None else self.price[shown],
            currency=self.currency,
            suppressed=None if self.suppressed is None else self.suppressed[shown],
        )

    def unmet(self, place: int, asked: RequiredPrivacy, policy: RequiredPrivacy, kinds: Collection[str]) -> list[str]:
        """Why the configuration at a place is not one of `meeting`, in sentences; empty if it is."""
        met = self._meeting(asked) | self._meeting(policy, ", which a policy requires")
        unmet = [f"{self.ids[place]!r} does not promise {what}." for what, those in met.items() if not those[place]]
        if not self.of_kinds(kinds)[place]:
            unmet.append(f"{self.ids[place]!r} is not {' or '.join(kinds)}. Ask with `kinds` that include its own.")
        return unmet

    def _meeting(self, required: RequiredPrivacy, by_whom: str = "") -> dict[str, NDArray[np.bool_]]:
        """A mask of the configurations that meet each limit, by the limit in words."""
        # NaN compares false both ways, so a configuration without a promise never meets a limit.
        words, nothing = dict(required.in_words()), np.full(self.codes.shape[0], np.nan)
        met = {name: self.privacy.get(name, nothing) >= limit for name, limit in required.at_least.items()}
        met |= {name: self.privacy.get(name, nothing) <= limit for name, limit in required.at_most.items()}
        if required.unit not in (None, self.unit):  # k of records never passes for k of people
            by_whom = f" (the entry counts records){by_whom}"
            met = {name: np.zeros_like(those) for name, those in met.items()}
        return {words[name] + by_whom: those for name, those in met.items()}


def _why_none(competing: NDArray[np.bool_], met: Mapping[str, NDArray[np.bool_]], kinds: Collection[str]) -> str:
    """Say why no configuration is left: how many each requirement excludes, or that there is none of these kinds."""
    if not competing.any():
        other = GENERATED if MASKED in kinds else MASKED
        return f"The entry has no {' or '.join(kinds)} configuration. Ask with `kinds` that include {other!r}."
    reasons = ", ".join(f"{int((competing & ~those).sum())} do not promise {what}" for what, those in met.items())
    return f"No configuration meets all requirements: of {int(competing.sum())}, {reasons}."


def _options_of(attribute: AttributeOutline) -> tuple[str, ...]:
    """The masking ids that a configuration may use for an attribute; codes are indices into them."""
    return (IDENTITY, DROP, *(masking.id for masking in attribute.maskings))


def pack_configurations(columns: ConfigurationColumns, outline: Sequence[AttributeOutline]) -> PackedConfigurations:
    """Pack the configurations of an entry as numbers."""
    codes: list[NDArray[np.int64]] = []
    for attribute in outline:
        place = {option: code for code, option in enumerate(_options_of(attribute))}
        codes.append(np.fromiter((place[masking] for masking in columns.maskings[attribute.name]), dtype=np.int64))
    declared = {}
    if any(columns.generated):
        declared[GENERATED] = pack(np.array(columns.generated, dtype=bool))
    if columns.label is not None:
        declared[LABEL] = pack(np.array(columns.label, dtype=np.int64))
    if columns.price is not None:
        declared[PRICE + columns.price.currency] = pack(np.array(columns.price.amounts, dtype=np.float64))
    if any(number is not None for number in columns.suppressed):
        declared[SUPPRESSED] = pack(np.array(columns.suppressed, dtype=np.float64))
    if columns.figures.numbers.size:
        declared[FIGURE_PLACES], declared[FIGURES] = pack(columns.figures.places), pack(columns.figures.numbers)
    return PackedConfigurations(
        ids=compress(columns.ids),
        codes=pack(np.stack(codes, axis=1)),
        privacy={name: pack(np.array(values, dtype=np.float64)) for name, values in columns.privacy.items()},
        declared=declared,
        unit=columns.unit,
    )


def unpack_configurations(
    packed: PackedConfigurations, outline: Sequence[AttributeOutline], *, with_ids: bool = True
) -> ConfigurationTable:
    """Unpack the configuration table of a version; a million ids take a tenth of a second."""
    declared, figures = packed.declared, NO_FIGURES
    if FIGURES in declared:
        figures = Figures(unpack(declared[FIGURE_PLACES]), unpack(declared[FIGURES]))
    priced = next((name for name in declared if name.startswith(PRICE)), None)
    return ConfigurationTable(
        ids=tuple(decompress(packed.ids)) if with_ids else (),
        options=tuple(map(_options_of, outline)),
        codes=unpack(packed.codes, narrow=True),  # at a byte each, a hundred million take 0.1 GB instead of 0.8
        privacy={guarantee: unpack(values) for guarantee, values in packed.privacy.items()},
        generated=unpack(declared[GENERATED]) if GENERATED in declared else None,
        figures=figures,
        unit=packed.unit,
        label_codes=unpack(declared[LABEL]) if LABEL in declared else None,
        price=None if priced is None else unpack(declared[priced]),
        currency=None if priced is None else priced.removeprefix(PRICE),
        suppressed=unpack(declared[SUPPRESSED]) if SUPPRESSED in declared else None,
    )
