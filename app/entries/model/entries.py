"""Catalogue entries: heads, immutable versions, and visibility."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final, Self

from aegis_advisor.evidence import EvidenceFlags, MaskingFlags
from app.entries.model.worth import Worth
from app.platform.callers import Caller
from app.platform.database.arrays import PackedArray
from app.platform.errors import Fault
from app.tenants.model import NO_DEMANDS, PERSON, TenantPolicy


class Audience(StrEnum):
    """Who may see an entry besides its own tenant and operators."""

    PRIVATE = "private"
    ALL = "all"
    TENANTS = "tenants"


@dataclass(frozen=True, slots=True)
class Visibility:
    """An audience, with the names of the tenants if it is limited to some."""

    audience: Audience
    tenants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Head:
    """The summary of an entry, at one version.

    Attributes:
        terms: the digest of the licence and the policy for masked tables.
        version_id: the catalogue's internal id of this version.
        digest: the digest of the content, for callers who may read the counts.
        keyed_digest: the digest for all others, which cannot confirm a guess of the counts.
        changed_at: the time of the last change that others see: a new version, or the visibility.
        has_open_answers: whether everyone who sees the entry gets full answers about it.
        accepted_small_counts: whether this version was published with exact counts of a few people; None for callers
            who may not read the counts.
        awaits_sign_off: whether this version is hidden from others until a reviewer signs it off.
        published_by: the publisher of this version; None if unknown, or for callers who may not read the counts.
        signed_off_by: who signed it off; None if nobody did, or for these callers.
        released_version: the number of the latest version that others see; 0 if none.
        alone: the largest share of lone records that a configuration states; None if none does, or if searches do not
            read this version.
        records: the number of records of the table, `columns` that of its attributes, and `k` the largest one that a
            configuration promises; None likewise, or for versions from before listings had them.
        people: the number of people that the records are about, at most `rows_per_person` of each; None if privacy
            counts records.
        labels: all of its labels, the default one, `label`, first.
        worth: what its best table is worth; only in listings by worth.
    """

    id: str
    name: str
    title: str
    description: str
    keywords: tuple[str, ...]
    license: str
    terms: str
    label: str
    tenant: str
    visibility: Visibility
    version: int
    version_id: int
    digest: str
    keyed_digest: str
    created_at: datetime
    changed_at: datetime
    has_open_answers: bool = False
    accepted_small_counts: bool | None = False
    policy: TenantPolicy = NO_DEMANDS
    awaits_sign_off: bool = False
    published_by: str | None = None
    signed_off_by: str | None = None
    latest_version: int = 1
    released_version: int = 1
    alone: float | None = None
    records: int | None = None
    columns: int | None = None
    k: float | None = None
    people: int | None = None
    rows_per_person: int | None = None
    labels: tuple[str, ...] = ()
    worth: Worth | None = None

    @property
    def unit(self) -> str | None:
        """What privacy counts: `PERSON`, or None for records."""
        return None if self.people is None else PERSON

    def is_visible_to(self, caller: Caller) -> bool:
        """Whether the caller may see it: its own tenant, operators, and tenants in the visibility.

        A version that awaits its sign-off is visible only to callers who may read its counts.
        """
        if self.awaits_sign_off and not self.shows_counts_to(caller):
            return False
        return (
            caller.is_operator
            or caller.tenant == self.tenant
            or self.visibility.audience is Audience.ALL
            or caller.tenant in self.visibility.tenants
        )

    def belongs_to(self, caller: Caller) -> bool:
        """Whether the caller may change it."""
        return caller.is_operator or (caller.may_publish and caller.tenant == self.tenant)

    def shows_counts_to(self, caller: Caller) -> bool:
        """Whether the caller may read its counts."""
        return caller.is_operator or (caller.may_read_counts and caller.tenant == self.tenant)

    def latest_seen_by(self, caller: Caller) -> int:
        """The number of the latest version that the caller sees; 0 if it sees none."""
        return self.latest_version if self.shows_counts_to(caller) else self.released_version

    def seen_by(self, caller: Caller) -> Self:
        """The head as the caller sees it.

        Others get neither the content's digest nor whether there are small counts, nor the other tenants in the
        visibility, nor who published and signed off the version.
        """
        if self.shows_counts_to(caller):
            return self
        visibility = self.visibility
        if visibility.audience is Audience.TENANTS:
            named = tuple(tenant for tenant in visibility.tenants if tenant == caller.tenant)
            visibility = Visibility(Audience.TENANTS, named)
        return replace(
            self,
            digest=self.keyed_digest,
            accepted_small_counts=None,
            visibility=visibility,
            published_by=None,
            signed_off_by=None,
        )


@dataclass(frozen=True, slots=True)
class HeadPage:
    """One page of a listing; the token of the next one, or None; the number on all pages, if asked for."""

    items: tuple[Head, ...]
    next_page_token: str | None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class VersionMark:
    """The number of a version, and whether it awaits its sign-off."""

    version: int
    awaits_sign_off: bool


class CountKind(StrEnum):
    """The member of the document with a count table."""

    LABEL_HISTOGRAM = "label_histogram"
    HISTOGRAM = "histogram"
    JOINT = "joint"
    MASKED_JOINT = "masked_joint"
    PAIRS = "pairs"

    def path(self, attribute: int | None, masking: int | None) -> tuple[str | int, ...]:
        """The document path of such a table, given the places of its attribute and masking."""
        match self:
            case CountKind.LABEL_HISTOGRAM:
                return "label", "histogram"
            case CountKind.HISTOGRAM | CountKind.JOINT if attribute is not None:
                return "attributes", attribute, self.value
            case CountKind.MASKED_JOINT if attribute is not None and masking is not None:
                return "attributes", attribute, "maskings", masking, "joint"
            case _:
                raise ValueError(f"{self} of {attribute}, {masking} has no place of its own")


@dataclass(frozen=True, slots=True)
class CountTable:
    """A count table, by the places of attribute and masking, if any. All pair counts form one: joined, row by row."""

    kind: CountKind
    attribute: int | None
    masking: int | None
    counts: PackedArray


@dataclass(frozen=True, slots=True)
class MaskingOutline:
    """The data on a masking, without its counts. Older outlines lack `perturbed` and `drawn`, which are then false."""

    id: str
    occupied: int
    mapped: bool
    counted: bool
    deterministic: bool
    perturbed: bool = False
    drawn: bool = False

    @property
    def flags(self) -> MaskingFlags:
        """The same for the advisor."""
        known = self.occupied, self.mapped, self.counted, self.deterministic
        return MaskingFlags(*known, self.perturbed, self.drawn)


@dataclass(frozen=True, slots=True)
class AttributeOutline:
    """The data on an attribute, without its counts.

    Attributes:
        cells: number of cells of the full table: values times label values.
        values: number of values that have records.
        labels: number of label values that have records.
        joint: whether the unmasked joint counts are known.
    """

    name: str
    cells: int
    values: int
    labels: int
    joint: bool
    maskings: tuple[MaskingOutline, ...]

    @property
    def flags(self) -> EvidenceFlags:
        """The same for the advisor, with the maskings in order."""
        maskings = tuple(masking.flags for masking in self.maskings)
        return EvidenceFlags(self.values, self.labels, self.joint, maskings)


@dataclass(frozen=True, slots=True)
class PackedConfigurations:
    """A configuration table as stored: ids as compressed JSON, else arrays; `declared`: additions of format 2.

    `unit`: what its promises count: `PERSON`, or None for records.
    """

    ids: bytes
    codes: PackedArray
    privacy: Mapping[str, PackedArray]
    declared: Mapping[str, PackedArray] = field(default_factory=dict)
    unit: str | None = None


#: Stand among privacy criteria for the share of lone records, and for the numbers of records and attributes.
ALONE, RECORDS, COLUMNS = "alone", "records", "columns"


@dataclass(frozen=True, slots=True)
class Content:
    """The content of one version of an entry, as stored.

    Attributes:
        terms: the digest of its terms if it has a policy; None without one.
        schema: the published document without its counts and configurations, as compressed JSON.
        open_answers: whether everyone who sees the entry gets full answers about it.
        labels: its labels, the default one first; None for one.
        offered: by privacy criterion, the lowest and the highest promised number; likewise for the share of lone
            records (`ALONE`), and the numbers of records and attributes.
        concepts: the URI of each declared concept, with `label` or `attribute`.
    """

    digest: str
    title: str
    description: str
    keywords: tuple[str, ...]
    license: str
    terms: str | None
    label: str
    outline: tuple[AttributeOutline, ...]
    schema: bytes
    configurations: bytes
    configuration_table: PackedConfigurations
    count_tables: tuple[CountTable, ...]
    open_answers: bool = False
    people: int | None = None
    rows_per_person: int | None = None
    labels: tuple[str, ...] | None = None
    offered: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    concepts: tuple[tuple[str, str], ...] = ()

    @property
    def stored_bytes(self) -> int:
        """Its approximate size in the database, in bytes."""
        table = self.configuration_table
        arrays = [one.counts for one in self.count_tables]
        arrays += [table.codes, *table.privacy.values(), *table.declared.values()]
        return len(self.schema) + len(self.configurations) + len(table.ids) + sum(len(one.data) for one in arrays)


@dataclass(frozen=True, slots=True)
class Publication:
    """A validated entry document, ready to be stored.

    `small_counts`: the first places of exact small counts, each with what it is.
    """

    name: str
    visibility: Visibility
    content: Content
    small_counts: tuple[Fault, ...] = ()


#: The longest list of audience names in an audit record, in characters.
_LONGEST_ARRAY: Final = 1_000


def audience_text(visibility: Visibility) -> str:
    """A visibility for the audit log: `all`, `private`, or `tenants` with their names as a JSON array.

    Records are never deleted and audiences can be large, so a long array is replaced by its SHA-256.
    """
    if visibility.audience is not Audience.TENANTS:
        return visibility.audience.value
    names = sorted(set(visibility.tenants))
    array = json.dumps(names, ensure_ascii=False, separators=(",", ":"))
    if len(array) > _LONGEST_ARRAY:
        array = f"{len(names)} names, sha256:{sha256(array.encode()).hexdigest()}"
    return f"{visibility.audience.value} {array}"


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """Whether published counts disclose no small ones; `findings`: every place that does, without counts.

    `few` is the number of listed values that certainly have a small count of records; None: not counted.
    `rows_per_person` is that of the version.
    """

    passed: bool
    findings: tuple[dict[str, Any], ...]
    few: int | None = None
    rows_per_person: int | None = None
