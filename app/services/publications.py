"""From a validated entry to what the catalogue stores. Pure, and heavy: it runs in a child process."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial

import numpy as np

from aegis_advisor.evidence import AttributeEvidence, MaskingFlags, PairCounts
from aegis_advisor.evidence.checks import find_faults, find_label_faults, find_pair_faults
from app.domain.arrays import pack
from app.domain.documents import compress, parts_of
from app.domain.entries import AttributeOutline, Content, CountKind, CountTable, MaskingOutline, Publication
from app.domain.errors import Fault, InvalidDocumentError, pointer
from app.domain.published import CountsInPlace, PublishedEntry
from app.services.configurations import pack_configurations
from app.services.digests import digest
from app.services.limits import excess_cells, excess_maskings, excess_pairs, excess_probabilities
from app.services.policy import NO_POLICY, Policy, declaration_faults, policy_faults


def publication_of(entry: PublishedEntry, policy: Policy = NO_POLICY) -> Publication:
    """The publication of an entry whose structure has been validated.

    Raises:
        InvalidDocumentError: with every sum that disagrees, every mapping out of range, ..., or with every place that
            breaks the policy.
    """
    # Compression and SHA-256 leave the interpreter to others: beside the checks they take hardly any time of their own.
    with ThreadPoolExecutor(max_workers=1) as beside:
        content = _begin_content(entry, beside)
        try:
            _refuse_faults(entry, policy)
        except InvalidDocumentError:
            beside.shutdown(cancel_futures=True)  # waits for the part in hand, and leaves out the others
            raise
        return Publication(entry.name, entry.visibility, content())


def _refuse_faults(entry: PublishedEntry, policy: Policy) -> None:
    if faults := sum_faults(entry) or declaration_faults(entry):
        raise InvalidDocumentError("The entry does not add up.", faults)
    if faults := policy_faults(entry, policy):
        raise InvalidDocumentError("The entry lacks disclosure control that this service demands.", faults)


def sum_faults(entry: PublishedEntry) -> tuple[Fault, ...]:
    """What is too much or does not add up. In this order: each check relies on what the one before has found sound."""
    evidence, pairs = entry.evidence, entry.pairs
    excess = (*excess_maskings(evidence), *excess_probabilities(evidence), *excess_pairs(pairs))
    return excess or evidence_faults(evidence) or (*excess_cells(evidence), *pair_faults(evidence, pairs))


def evidence_faults(evidence: Sequence[AttributeEvidence]) -> tuple[Fault, ...]:
    """Everything that does not add up, each fault with its JSON Pointer into the document."""
    faults = tuple(
        Fault(pointer("attributes", place, *fault.path), fault.detail)
        for place, attribute in enumerate(evidence)
        for fault in find_faults(attribute)
    )
    if faults:
        return faults
    return tuple(Fault(pointer("attributes", *fault.path), fault.detail) for fault in find_label_faults(evidence))


def pair_faults(evidence: Sequence[AttributeEvidence], pairs: Sequence[PairCounts]) -> tuple[Fault, ...]:
    """Everything of pair counts that does not add up, each fault with its JSON Pointer; the evidence is sound."""
    faults = find_pair_faults(evidence, pairs)
    return tuple(Fault(pointer("pairs", *fault.path), fault.detail) for fault in faults)


def _begin_content(entry: PublishedEntry, beside: Executor) -> Callable[[], Content]:
    """Submit the parts of the content one by one; call the result to wait for them."""
    tables = [beside.submit(pack_table) for pack_table in _table_packers(entry)]
    document_digest = beside.submit(digest, entry.document)
    schema, configurations = (beside.submit(compress, part) for part in parts_of(entry.document))
    outline = beside.submit(lambda: tuple(map(_outline, entry.evidence)))
    configuration_table = beside.submit(lambda: pack_configurations(entry.configurations, outline.result()))
    return lambda: Content(
        digest=document_digest.result(),
        title=entry.title,
        description=entry.description,
        keywords=entry.keywords,
        license=entry.license,
        label=entry.label,
        outline=outline.result(),
        schema=schema.result(),
        configurations=configurations.result(),
        configuration_table=configuration_table.result(),
        count_tables=tuple(table.result() for table in tables),
    )


def packed_tables(entry: PublishedEntry) -> Iterator[CountTable]:
    """The tables of an entry as they are stored: those of all pairs as one."""
    return (pack_table() for pack_table in _table_packers(entry))


def _table_packers(entry: PublishedEntry) -> Iterator[Callable[[], CountTable]]:
    for table in entry.tables():
        if table.pair is None:
            yield partial(_pack_table, table)
    if entry.pairs:
        yield partial(_pack_pairs, entry.pairs)


def _pack_table(table: CountsInPlace) -> CountTable:
    return CountTable(table.kind, table.attribute, table.masking, pack(table.counts))


def _pack_pairs(pairs: Sequence[PairCounts]) -> CountTable:
    return CountTable(CountKind.PAIRS, None, None, pack(np.concatenate([pair.joint.ravel() for pair in pairs])))


def _outline(evidence: AttributeEvidence) -> AttributeOutline:
    flags = evidence.flags
    maskings = tuple(
        _masking_outline(masking.id, known) for masking, known in zip(evidence.maskings, flags.maskings, strict=True)
    )
    cells = evidence.values * evidence.labels
    return AttributeOutline(evidence.name, cells, flags.values, flags.labels, flags.has_joint, maskings)


def _masking_outline(masking: str, known: MaskingFlags) -> MaskingOutline:
    return MaskingOutline(
        id=masking,
        occupied=known.occupied,
        mapped=known.mapped,
        counted=known.counted,
        deterministic=known.deterministic,
        perturbed=known.perturbed,
        drawn=known.drawn,
    )
