"""Whether a new version may be published here: small counts must be accepted, and required privacy promised.

Small counts are exact numbers of one to four people: anyone who knows three of four people learns all about the
fourth. Where a person may have several records, so are all counts of records that may be about so few. Counts with
noise or rounding are not numbers of people, so none of them is small.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

import numpy as np

from aegis_advisor.ranking import lacks_evidence
from aegis_advisor.verdict import largest_small
from app.entries.model.configurations import FIGURES, GENERATED, LABEL
from app.entries.model.entries import Content, PackedConfigurations, Publication
from app.entries.model.published import CountsInPlace, Path, PublishedEntry
from app.entries.service.checks import SHOWN, first_faults
from app.platform.database.arrays import unpack
from app.platform.errors import Fault, InvalidDocumentError, pointer, some
from app.tenants.model import NOTHING_REQUIRED, RequiredPrivacy, TenantPolicy

_WHY = "The entry has exact counts of 1 to 4, which can be about single persons"
_ROUND = "Without --exact, aegis summarize rounds all counts"
_ACCEPT = (
    "Or publish them for everyone who may read the entry's counts: aegis publish --accept-small-counts (in a call: "
    "?accept_small_counts=true)"
)
_OPERATOR = "Or ask the operator: AEGIS_SMALL_COUNTS decides"
_NEVER = "This service never accepts them: the operator has set AEGIS_SMALL_COUNTS=refuse"


class SmallCounts(StrEnum):
    """The treatment of entries with small counts."""

    REFUSE = "refuse"
    CONFIRM = "confirm"
    ACCEPT = "accept"


@dataclass(frozen=True, slots=True)
class SmallCountsGate:
    """The decision about small counts for one call; `is_confirmed`: whether it accepts them (`accept_small_counts`)."""

    rule: SmallCounts
    is_confirmed: bool = False

    def refuse(self, small: tuple[Fault, ...]) -> None:
        """Refuse small counts that were not accepted (InvalidDocumentError with their places, without the counts)."""
        if not small or self.rule is SmallCounts.ACCEPT or (self.rule is SmallCounts.CONFIRM and self.is_confirmed):
            return
        ways = (_ROUND, _NEVER) if self.rule is SmallCounts.REFUSE else (_ROUND, _ACCEPT, _OPERATOR)
        raise InvalidDocumentError(". ".join((_WHY, *ways)) + ".", small, code="small_counts")

    def warnings(self, small: tuple[Fault, ...]) -> Iterator[str]:
        """Warnings about small counts that the setting accepted rather than the call."""
        if small and not self.is_confirmed:
            yield (
                f"{_WHY}. This service accepts them by default (development mode, or AEGIS_SMALL_COUNTS=accept); "
                f"others need --accept-small-counts. {_ROUND}."
            )


@first_faults
def small_counts(entry: PublishedEntry) -> Iterator[Fault]:
    """Places of small counts in an entry, each with its JSON Pointer and without its count."""
    rows = entry.rows_per_person or 1
    most = largest_small(rows)
    what = f"1 to {most}" if rows == 1 else f"fewer than 5 people (1 to {most} records, at most {rows} of each)"
    for table in entry.tables():
        if _is_exact(table, entry):
            small = (table.counts > 0) & (table.counts <= most)
            detail = f"An exact count of {what}"
            yield from (Fault(pointer(*table.path, *place), detail) for place in np.argwhere(small)[:SHOWN].tolist())
    # A number of records cannot declare rounding; it was rounded if all counts of the entry were, once.
    if not entry.control.drawn_once:
        detail = f"This exact number of records reveals a count of {what}"
        yield from (Fault(pointer(*path), detail) for path, number in _left_out(entry) if 0 < number <= most)


def _is_exact(table: CountsInPlace, entry: PublishedEntry) -> bool:
    """Whether a table has exact counts: no noise, and no rounding of it or of the whole entry."""
    is_rounded = table.declared is not None and table.declared.rounded_to is not None
    # Pairs that declare nothing are exact where all else was rounded once, unless they are counts of a label.
    was_rounded_once = entry.control.drawn_once and (table.pair is None or entry.labels is not None)
    return not (table.is_noisy or is_rounded or was_rounded_once)


def _left_out(entry: PublishedEntry) -> Iterator[tuple[Path, int]]:
    """The numbers of suppressed records and of records missing in a masking, with their places."""
    yield from entry.configurations.numbers_suppressed
    label = entry.evidence[0]
    if not label.label_perturbation.is_none:
        return
    for (place, index), records in entry.masked_records.items():
        yield ("attributes", place, "maskings", index, "records"), int(label.label_histogram.sum()) - records


@dataclass(frozen=True, slots=True)
class Admission:
    """A service's requirements for new versions; the entry's tenant may require more privacy.

    They apply neither to stored versions nor to an upload that equals the latest version.
    """

    small_counts: SmallCountsGate
    required: RequiredPrivacy = NOTHING_REQUIRED

    def confirmed(self, *, is_confirmed: bool) -> Self:
        """The same for a call that accepts small counts or not."""
        return replace(self, small_counts=replace(self.small_counts, is_confirmed=is_confirmed))

    def refuse(self, publication: Publication, by_tenant: RequiredPrivacy) -> None:
        """Refuse a version with small counts or without a promise of required privacy (InvalidDocumentError)."""
        self.small_counts.refuse(publication.small_counts)
        required = self.required.stricter_of(by_tenant)
        if faults := unvouched_faults(publication.content.configuration_table, required):
            raise InvalidDocumentError("The entry does not promise the privacy that a policy requires here.", faults)

    def warnings(self, publication: Publication, policy: TenantPolicy) -> Iterator[str]:
        """Warnings for the provider of a published version, one sentence each."""
        if policy.demands_sign_off:
            yield "Others do not see this version until a reviewer signs it off."
        yield from self.small_counts.warnings(publication.small_counts)
        required = self.required.stricter_of(policy.required_privacy)
        if required and not _competing(publication.content.configuration_table, required):
            limits = ", ".join(words for _, words in required.in_words())
            yield f"No configuration promises {limits}, which a policy requires here: no question can be answered."
        yield from _unanswerable(publication.content)


def _unanswerable(content: Content) -> Iterator[str]:
    """A warning about attributes that configurations mask differently, but that have no counts by label."""
    table = content.configuration_table
    # Declared utilities need no counts, and those with masked labels stand among the pairs.
    if not table.declared.keys().isdisjoint((GENERATED, LABEL, FIGURES)):
        return
    codes = unpack(table.codes)
    differ = [place for place in range(codes.shape[1]) if (codes[:, place] != codes[0, place]).any()]
    silent = [place for place in differ if lacks_evidence(content.outline[place].flags)]
    if silent:
        names = some([content.outline[place].name for place in silent])
        which = "no question can be answered" if silent == differ else "questions about it are refused (no_evidence)"
        yield (
            f"The entry has no counts of {names} against the label, but the configurations mask it differently: "
            f"{which}. Publish the joint counts of one of its maskings, with its mapping or as deterministic."
        )


def unvouched_faults(table: PackedConfigurations, required: RequiredPrivacy) -> tuple[Fault, ...]:
    """A fault for each required criterion that no configuration promises, or for promises in another unit."""
    if required.unit not in (None, table.unit):
        limits = ", ".join(words for _, words in required.in_words())
        detail = f"The entry counts records, but required is {limits}: publish one that counts people (`unit`)"
        return (Fault("/unit", detail),)
    unvouched = (
        words
        for name, words in required.in_words()
        if name not in table.privacy or np.isnan(unpack(table.privacy[name])).all()
    )
    detail = "No configuration promises this criterion; required is"
    return tuple(Fault("/configurations", f"{detail} {words}") for words in unvouched)


def _competing(table: PackedConfigurations, required: RequiredPrivacy) -> bool:
    """Whether a single configuration meets all requirements, given that each is met by some."""
    met = np.ones(table.codes.shape[0], dtype=bool)
    for name, limit in required.at_least.items():
        met &= unpack(table.privacy[name]) >= limit
    for name, limit in required.at_most.items():
        met &= unpack(table.privacy[name]) <= limit
    return bool(met.any())
