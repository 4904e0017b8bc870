"""What is known of an attribute, and what of it does not add up."""

from app.advisor.evidence.attribute import (
    DROP,
    IDENTITY,
    AttributeEvidence,
    EvidenceFlags,
    Knowledge,
    Masking,
    MaskingFlags,
)
from app.advisor.evidence.fault import Fault
from app.advisor.evidence.faults import find_faults
from app.advisor.evidence.pair_faults import find_pair_faults
from app.advisor.evidence.pairs import PairCounts
from app.advisor.evidence.perturbation import Perturbation

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
    "find_faults",
    "find_pair_faults",
]
