"""What is known about an attribute."""

from aegis_advisor.evidence.attribute import (
    DROP,
    IDENTITY,
    AttributeEvidence,
    EvidenceFlags,
    Knowledge,
    Masking,
    MaskingFlags,
    exact_counts,
    masked_records,
)
from aegis_advisor.evidence.content import (
    AttributeContent,
    ConfigurationContent,
    ConfigurationsContent,
    ControlContent,
    EntryContent,
    HoldoutContent,
    LabelContent,
    MaskingContent,
    PairContent,
    PublishedTrace,
    TransferContent,
    associations_of,
    evidence_of,
    pair_counts,
    pairs_of,
)
from aegis_advisor.evidence.likely import REFINED, LikelyTables, coarser_views, likely_tables
from aegis_advisor.evidence.masked_label import with_label_masked
from aegis_advisor.evidence.pair import PairAssociation, PairCounts, association_unit
from aegis_advisor.evidence.perturbation import Perturbation
from aegis_advisor.evidence.rounded import sum_variances, with_declared_rounding
from aegis_advisor.evidence.task import UNMASKED, CountedPair, lacking, pairs_with, whole_counts

__all__ = [
    "DROP",
    "IDENTITY",
    "REFINED",
    "UNMASKED",
    "AttributeContent",
    "AttributeEvidence",
    "ConfigurationContent",
    "ConfigurationsContent",
    "ControlContent",
    "CountedPair",
    "EntryContent",
    "EvidenceFlags",
    "HoldoutContent",
    "Knowledge",
    "LabelContent",
    "LikelyTables",
    "Masking",
    "MaskingContent",
    "MaskingFlags",
    "PairAssociation",
    "PairContent",
    "PairCounts",
    "Perturbation",
    "PublishedTrace",
    "TransferContent",
    "association_unit",
    "associations_of",
    "coarser_views",
    "evidence_of",
    "exact_counts",
    "lacking",
    "likely_tables",
    "masked_records",
    "pair_counts",
    "pairs_of",
    "pairs_with",
    "sum_variances",
    "whole_counts",
    "with_declared_rounding",
    "with_label_masked",
]
