"""What is known of an attribute, and what of it does not add up."""

from app.advisor.evidence.attribute import (
    AttributeEvidence,
    EvidenceFlags,
    Knowledge,
    Masking,
    MaskingFlags,
)
from app.advisor.evidence.faults import Fault, find_faults

__all__ = [
    "AttributeEvidence",
    "EvidenceFlags",
    "Fault",
    "Knowledge",
    "Masking",
    "MaskingFlags",
    "find_faults",
]
