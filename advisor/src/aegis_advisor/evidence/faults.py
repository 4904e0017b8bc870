"""Everything in an attribute's evidence that does not add up, in plain words.

Which checks there are, and why no more: model, section 5. Views that agree pairwise may still admit no
table; such evidence is accepted, and its reconstruction says that it did not converge.
"""

from collections.abc import Iterator

from aegis_advisor.evidence.agreement import agreement_faults, unmasked_faults
from aegis_advisor.evidence.attribute import AttributeEvidence
from aegis_advisor.evidence.fault import LARGEST_COUNT, Fault, total
from aegis_advisor.evidence.masking_faults import declaration_faults, masking_faults
from aegis_advisor.evidence.table_faults import (
    count_faults,
    label_allowances,
    row_faults,
    table_faults,
    total_faults,
)


def find_faults(evidence: AttributeEvidence) -> tuple[Fault, ...]:
    """Find everything that does not add up; an empty answer is evidence that can be reconstructed from.

    Arrays may hold any integers and have any shape. At most 100 faults are named per table.
    """
    label = list(count_faults((), evidence.label_histogram, (evidence.label_histogram.size,)))
    label += [Fault((), fault.detail) for fault in declaration_faults((), evidence.label_perturbation)]
    if label or total(evidence.label_histogram) > LARGEST_COUNT:
        return (*label, Fault((), "the label's histogram adds up to more records than can be counted"))[:1]
    histogram = list(_histogram_faults(evidence))
    joint = list(_joint_faults(evidence, histogram_is_sound=not histogram))
    sound = evidence.value_counts if not histogram and not joint else None
    maskings = [list(masking_faults(evidence, index, sound)) for index in range(len(evidence.maskings))]
    comparable = [
        index for index, masking in enumerate(evidence.maskings) if masking.constrains and not maskings[index]
    ]
    agreement: Iterator[Fault] = iter(())
    if evidence.joint is None:
        agreement = agreement_faults(evidence, comparable, sound)
    elif not joint:
        agreement = unmasked_faults(evidence, evidence.joint, comparable)
    return (*histogram, *joint, *(fault for faults in maskings for fault in faults), *agreement)


def _histogram_faults(evidence: AttributeEvidence) -> Iterator[Fault]:
    if evidence.histogram is None:
        return
    path = ("histogram",)
    malformed = list(count_faults(path, evidence.histogram, (evidence.values,)))
    _, whole = label_allowances(evidence)
    yield from malformed or total_faults(path, evidence.histogram, total(evidence.label_histogram), whole)


def _joint_faults(evidence: AttributeEvidence, *, histogram_is_sound: bool) -> Iterator[Fault]:
    if evidence.joint is None:
        return
    table = list(table_faults(("joint",), evidence.joint, evidence.values, evidence))
    yield from table
    if evidence.histogram is not None and histogram_is_sound and not table:
        yield from row_faults(("joint",), evidence.joint, evidence.histogram, "the histogram counts")
