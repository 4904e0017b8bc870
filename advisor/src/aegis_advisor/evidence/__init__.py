"""What is known of an attribute, and what of it does not add up."""

from aegis_advisor.evidence.attribute import (
    DROP,
    IDENTITY,
    AttributeEvidence,
    EvidenceFlags,
    Knowledge,
    Masking,
    MaskingFlags,
)
from aegis_advisor.evidence.fault import Fault
from aegis_advisor.evidence.faults import find_faults
from aegis_advisor.evidence.label_faults import find_label_faults
from aegis_advisor.evidence.pair_faults import find_pair_faults
from aegis_advisor.evidence.pairs import PairCounts
from aegis_advisor.evidence.perturbation import Perturbation
from aegis_advisor.evidence.published import attribute_evidence

__all__ = [
    "DROP",
    "IDENTITY",
    "AttributeEvidence",
    "EvidenceFlags",
    "Fault",
    "Knowledge",
    "Masking",
    "MaskingFlags",
    "PairCounts",
    "Perturbation",
    "attribute_evidence",
    "find_faults",
    "find_label_faults",
    "find_pair_faults",
]
