"""From a validated entry document to what the catalogue stores. Pure, and heavy: it runs in a child process."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from aegis_advisor.evidence import AttributeEvidence
from app.domain.documents import Document, compress, counts_to_arrays, split
from app.domain.entries import AttributeOutline, Audience, Content, MaskingOutline, Publication, Visibility
from app.domain.errors import InvalidDocumentError
from app.services.configurations import pack_configurations
from app.services.digests import digest
from app.services.evidence import evidence_faults, evidence_of, pair_faults, pairs_of
from app.services.limits import excess_cells, excess_maskings, excess_pairs, excess_probabilities
from app.services.policy import NO_POLICY, Policy, declaration_faults, policy_faults


def publication_of(document: Document, policy: Policy = NO_POLICY) -> Publication:
    """The publication of a document whose structure has been validated; its counts are turned into arrays in place.

    Raises InvalidDocumentError with every sum that disagrees, every mapping out of range, ..., or with every place
    that breaks the policy.
    """
    counts_to_arrays(document)
    evidence, pairs = evidence_of(document), pairs_of(document)
    # In this order: each check relies on what the one before has found sound.
    faults = (*excess_maskings(evidence), *excess_probabilities(evidence), *excess_pairs(pairs))
    faults = faults or evidence_faults(evidence) or (*excess_cells(evidence), *pair_faults(evidence, pairs))
    if faults := faults or declaration_faults(document):
        raise InvalidDocumentError("The entry does not add up.", faults)
    if faults := policy_faults(document, policy):
        raise InvalidDocumentError("The entry lacks disclosure control that this service demands.", faults)
    return Publication(
        document["name"], visibility_of(document.get("visibility", "private")), _content(document, evidence)
    )


def visibility_of(published: str | Mapping[str, Sequence[str]]) -> Visibility:
    """`private`, `all` or `{"tenants": [...]}` as the domain says it."""
    if isinstance(published, str):
        return Visibility(Audience(published))
    return Visibility(Audience.TENANTS, tuple(published["tenants"]))


def _content(document: Document, evidence: Sequence[AttributeEvidence]) -> Content:
    schema, configurations, count_tables = split(document)
    outline = tuple(_outline(attribute) for attribute in evidence)
    return Content(
        digest=digest(document),
        title=document.get("title", ""),
        description=document.get("description", ""),
        keywords=tuple(document.get("keywords", ())),
        license=document.get("license", ""),
        label=document["label"]["name"],
        outline=outline,
        schema=compress(schema),
        configurations=compress(configurations),
        configuration_table=pack_configurations(configurations, outline),
        count_tables=count_tables,
    )


def _outline(evidence: AttributeEvidence) -> AttributeOutline:
    flags = evidence.flags
    maskings = tuple(
        MaskingOutline(masking.id, **asdict(known))
        for masking, known in zip(evidence.maskings, flags.maskings, strict=True)
    )
    cells = evidence.values * evidence.labels
    return AttributeOutline(evidence.name, cells, flags.values, flags.labels, flags.has_joint, maskings)
