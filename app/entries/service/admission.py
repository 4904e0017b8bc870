"""Whether a new version may be published here: small counts must be accepted, and required privacy promised."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from aegis_advisor.ranking import lacks_evidence
from app.entries.model.configurations import PackedConfigurations
from app.entries.model.entries import Content, Publication
from app.entries.service.small_counts import SmallCountsGate
from app.platform.database.arrays import unpack
from app.platform.errors import Fault, InvalidDocumentError, some
from app.tenants.model import NOTHING_REQUIRED, RequiredPrivacy, TenantPolicy


@dataclass(frozen=True, slots=True)
class Admission:
    """A service's requirements for new versions, in addition to those for every upload.

    They do not apply to stored versions, nor to an upload that equals the latest version.

    Attributes:
        small_counts: the treatment of exact counts of a few people.
        required: the privacy that the service requires; the entry's tenant may require more.
    """

    small_counts: SmallCountsGate
    required: RequiredPrivacy = NOTHING_REQUIRED

    def confirmed(self, *, is_confirmed: bool) -> Self:
        """The same for a call that accepts small counts or not."""
        return replace(self, small_counts=replace(self.small_counts, is_confirmed=is_confirmed))

    def refuse(self, publication: Publication, by_tenant: RequiredPrivacy) -> None:
        """Refuse a new version that may not be published.

        Raises:
            InvalidDocumentError: it has small counts that were not accepted, or lacks a promise of required privacy.
        """
        self.small_counts.refuse(publication.small_counts)
        refuse_unvouched(publication.content.configuration_table, self.required.stricter_of(by_tenant))

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
    """A warning about attributes with different maskings in the configurations but without counts by label.

    Declared utilities need no counts, so entries with any get no warning.
    """
    table = content.configuration_table
    if table.declared:
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


def refuse_unvouched(table: PackedConfigurations, required: RequiredPrivacy) -> None:
    """Refuse configurations if none of them promises a required criterion.

    Raises:
        InvalidDocumentError: with a fault for each of these criteria.
    """
    unvouched = (words for name, words in required.in_words() if not _vouches(table, name))
    faults = tuple(
        Fault("/configurations", f"No configuration promises this criterion; required is {words}")
        for words in unvouched
    )
    if faults:
        raise InvalidDocumentError("The entry does not promise the privacy that a policy requires here.", faults)


def _vouches(table: PackedConfigurations, criterion: str) -> bool:
    """Whether any configuration promises a criterion."""
    return criterion in table.privacy and not np.isnan(unpack(table.privacy[criterion])).all()


def _competing(table: PackedConfigurations, required: RequiredPrivacy) -> bool:
    """Whether a single configuration meets all requirements, given that each is met by some."""
    met = np.ones(table.codes.shape[0], dtype=bool)
    for name, limit in required.at_least.items():
        met &= unpack(table.privacy[name]) >= limit
    for name, limit in required.at_most.items():
        met &= unpack(table.privacy[name]) <= limit
    return bool(met.any())
