"""The parts of an entry on its pages."""

from dataclasses import dataclass
from typing import Final

import msgspec

from aegis_advisor.evidence import ControlContent

#: The number of values of a domain, and of maskings of a configuration, before a link to the rest.
FIRST_VALUES, FIRST_MASKINGS = 8, 8

#: The number of classes of the label that are shown.
FIRST_CLASSES = 50


@dataclass(frozen=True, slots=True)
class MaskingRow:
    """A masking of an attribute: its function in words, and its number of masked values."""

    id: str
    words: str
    values: int
    known: str


@dataclass(frozen=True, slots=True)
class AttributeRow:
    """An attribute with the beginning of its domain; `place`: its number in the entry, from 0."""

    place: int
    name: str
    type: str
    values: int
    first: tuple[str, ...]
    rule: str
    maskings: tuple[MaskingRow, ...]


@dataclass(frozen=True, slots=True)
class MaskedDomain:
    """The masked values of a masking; `mapping`: for each value of the attribute, the place of its masked value."""

    id: str
    domain: tuple[str, ...]
    mapping: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class WholeAttribute:
    """An attribute with its whole domain."""

    row: AttributeRow
    domain: tuple[str, ...]
    maskings: tuple[MaskedDomain, ...]


@dataclass(frozen=True, slots=True)
class ConfigurationRow:
    """A configuration.

    Attributes:
        place: its number in the entry, from 0.
        maskings: the first shared attributes with their maskings.
        shared: the number of shared attributes.
        privacy: promised privacy by criterion.
        suppressed: the number of suppressed records and cells; None if not stated, or hidden from this reader.
        method: the method of generation; empty if masked.
        measured: the performance of a trained model, in words; empty if not measured.
        alone: the share of lone records, in words; empty if not stated.
    """

    place: int
    id: str
    maskings: tuple[tuple[str, str], ...]
    shared: int
    privacy: dict[str, float]
    suppressed: int | None = None
    suppressed_cells: int | None = None
    method: str = ""
    measured: str = ""
    alone: str = ""


@dataclass(frozen=True, slots=True)
class Vouched:
    """A privacy criterion: the number of configurations that promise it, and the range of their numbers."""

    name: str
    configurations: int
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class About:
    """An entry without its head and its long lists.

    Attributes:
        description: as HTML, sanitised.
        classes: the first classes of the label; `labels`: the number of classes.
        control: the controls of the counts, if any.
        terms: the policy as indented JSON; empty without one.
        pairs: the number of counted pairs of masked attributes.
        measure: the usual measure for questions.
        at_least_k: for some k, the number of configurations that promise at least that.
        has_suppressed: whether any configuration states its suppressed records or cells.
        alone: the share of lone records in the worst configuration, in words.
        is_unique: whether that share is too large.
        is_cut: whether configurations have more maskings than their rows show.
    """

    description: str
    records: int
    classes: tuple[str, ...]
    labels: int
    control: ControlContent
    terms: str
    pairs: int
    holdout: int | None
    attributes: int
    configurations: int
    generated: int
    measure: str
    at_least_k: tuple[tuple[int, int], ...]
    vouched: tuple[Vouched, ...]
    has_suppressed: bool
    has_measured: bool
    alone: str
    is_unique: bool
    is_cut: bool


ABOUT: Final = msgspec.json.Decoder(About)
NAMES: Final = msgspec.json.Decoder(tuple[str, ...])
ATTRIBUTES: Final = msgspec.json.Decoder(tuple[AttributeRow, ...])
WHOLE: Final = msgspec.json.Decoder(WholeAttribute)
CONFIGURATIONS: Final = msgspec.json.Decoder(tuple[ConfigurationRow, ...])
MASKINGS: Final = msgspec.json.Decoder(tuple[tuple[str, ...], ...])
