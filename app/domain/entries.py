"""Catalogue entries: their heads, their immutable versions, and who may see them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.domain.arrays import PackedArray
from app.domain.callers import Caller
from app.domain.configurations import PackedConfigurations


class Audience(StrEnum):
    """Who may see an entry besides its own tenant and operators."""

    PRIVATE = "private"
    ALL = "all"
    TENANTS = "tenants"


@dataclass(frozen=True, slots=True)
class Visibility:
    """An audience, with the tenants' names where it is made of some."""

    audience: Audience
    tenants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Head:
    """What is known of an entry at a glance.

    Attributes:
        version_id: the catalogue's own name of this version.
    """

    id: str
    name: str
    title: str
    description: str
    keywords: tuple[str, ...]
    license: str
    label: str
    tenant: str
    visibility: Visibility
    version: int
    version_id: int
    digest: str
    created_at: datetime

    def is_visible_to(self, caller: Caller) -> bool:
        """Its own tenant, operators, and whom the visibility names."""
        return (
            caller.is_operator
            or caller.tenant == self.tenant
            or self.visibility.audience is Audience.ALL
            or caller.tenant in self.visibility.tenants
        )

    def belongs_to(self, caller: Caller) -> bool:
        """Whether the caller may change it, or read its summaries."""
        return caller.is_operator or (caller.may_publish and caller.tenant == self.tenant)


@dataclass(frozen=True, slots=True)
class HeadPage:
    """One page of a listing, newest first; the token of the next one, or None."""

    items: tuple[Head, ...]
    next_page_token: str | None


class CountKind(StrEnum):
    """Where in the document a count table stands."""

    LABEL_HISTOGRAM = "label_histogram"
    HISTOGRAM = "histogram"
    JOINT = "joint"
    MASKED_JOINT = "masked_joint"
    PAIRS = "pairs"


@dataclass(frozen=True, slots=True)
class CountTable:
    """Counts of an entry.

    The counts of all pairs are one table: theirs in the document's order and row by row, one after another.

    Attributes:
        kind: where in the document they stand.
        attribute: the place of their attribute, None where there is none.
        masking: the place of their masking, None where there is none.
        counts: the counts, packed.
    """

    kind: CountKind
    attribute: int | None
    masking: int | None
    counts: PackedArray


@dataclass(frozen=True, slots=True)
class MaskingOutline:
    """What is known of a masking, without its numbers; what was stored before it could be declared is neither."""

    id: str
    occupied: int
    mapped: bool
    counted: bool
    deterministic: bool
    perturbed: bool = False
    drawn: bool = False


@dataclass(frozen=True, slots=True)
class AttributeOutline:
    """What is known of an attribute, without its numbers.

    Attributes:
        cells: of the whole table, values times labels.
        values: how many values have records.
        labels: how many values of the label have records.
        joint: its unmasked joint counts are known.
        maskings: its maskings, in order.
    """

    name: str
    cells: int
    values: int
    labels: int
    joint: bool
    maskings: tuple[MaskingOutline, ...]


@dataclass(frozen=True, slots=True)
class Content:
    """One version of an entry as it is stored.

    Attributes:
        schema: the published document without its counts and configurations, as compressed JSON.
        configurations: the configurations as published, as compressed JSON.
        configuration_table: the same configurations as numbers.
    """

    digest: str
    title: str
    description: str
    keywords: tuple[str, ...]
    license: str
    label: str
    outline: tuple[AttributeOutline, ...]
    schema: bytes
    configurations: bytes
    configuration_table: PackedConfigurations
    count_tables: tuple[CountTable, ...]


@dataclass(frozen=True, slots=True)
class Publication:
    """A validated entry document on its way into the catalogue."""

    name: str
    visibility: Visibility
    content: Content
