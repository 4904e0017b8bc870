"""What is known of an attribute, and what of it does not add up."""

from app.advisor.evidence.attribute import (
    AttributeEvidence,
    EvidenceFlags,
    Knowledge,
    Masking,
    MaskingFlags,
)
from app.advisor.evidence.fault import Fault
from app.advisor.evidence.faults import find_faults
from app.advisor.evidence.perturbation import Perturbation

__all__ = [
    "AttributeEvidence",
    "EvidenceFlags",
    "Fault",
    "Knowledge",
    "Masking",
    "MaskingFlags",
    "Perturbation",
    "find_faults",
]
