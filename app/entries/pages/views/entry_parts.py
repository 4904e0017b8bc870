"""The parts of an entry that its pages show."""

from dataclasses import dataclass
from typing import Final

import msgspec

from aegis_advisor.evidence import ControlContent

#: How many values of a domain, and maskings of a configuration, are shown before the rest is left to a page of its own.
FIRST_VALUES, FIRST_MASKINGS = 8, 8

#: How many classes of the label are shown.
FIRST_CLASSES = 50


@dataclass(frozen=True, slots=True)
class MaskingRow:
    """A masking of an attribute: what it does, and how many masked values it has."""

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
        maskings: the first attributes that it shares, each with its masking.
        shared: how many attributes it shares.
        privacy: what it vouches for, by criterion.
        suppressed: how many records and cells it suppresses; None if it does not say, or not to this reader.
        method: how it was generated; empty if it is masked.
        measured: what a trained model keeps, in words; empty if nothing was measured.
        alone: which share of the records it leaves alone, in words; empty if it does not say.
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
    """A privacy criterion: how many configurations vouch for it, and the least and the most that they vouch for."""

    name: str
    configurations: int
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class About:
    """What there is to say of an entry besides its head and its long lists.

    Attributes:
        description: as HTML, sanitised.
        classes: the first classes of the label; `labels`: how many there are.
        control: what was done to the counts, if anything.
        terms: the policy as indented JSON; empty if there is none.
        pairs: how many pairs of masked attributes were counted.
        measure: the one that people usually ask by.
        at_least_k: for some k, how many configurations vouch for at least that.
        has_suppressed: whether any configuration says how many records or cells it suppresses.
        alone: which share of the records the worst configuration leaves alone, in words.
        is_unique: whether that is a large one.
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
