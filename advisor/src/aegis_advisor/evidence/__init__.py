"""What is known about an attribute."""

from aegis_advisor.evidence.attribute import (
    DROP,
    IDENTITY,
    AttributeEvidence,
    EvidenceFlags,
    Knowledge,
    Masking,
    MaskingFlags,
)
from aegis_advisor.evidence.folding import exact_counts, masked_records
from aegis_advisor.evidence.likely import REFINED, LikelyTables, coarser_views, likely_tables
from aegis_advisor.evidence.pair import PairAssociation, PairCounts, association_unit
from aegis_advisor.evidence.perturbation import Perturbation
from aegis_advisor.evidence.published import attribute_evidence, pair_association, pair_counts
from aegis_advisor.evidence.rounded import with_declared_rounding
from aegis_advisor.evidence.rounded_sums import sum_variances

__all__ = [
    "DROP",
    "IDENTITY",
    "REFINED",
    "AttributeEvidence",
    "EvidenceFlags",
    "Knowledge",
    "LikelyTables",
    "Masking",
    "MaskingFlags",
    "PairAssociation",
    "PairCounts",
    "Perturbation",
    "association_unit",
    "attribute_evidence",
    "coarser_views",
    "exact_counts",
    "likely_tables",
    "masked_records",
    "pair_association",
    "pair_counts",
    "sum_variances",
    "with_declared_rounding",
]
