"""Checks of an attribute's evidence for inconsistencies, before anything is computed from it."""

from aegis_advisor.evidence.checks.attributes import find_block_faults, find_faults, find_label_faults
from aegis_advisor.evidence.checks.pairs import find_pair_faults
from aegis_advisor.evidence.checks.tables import Fault

__all__ = ["Fault", "find_block_faults", "find_faults", "find_label_faults", "find_pair_faults"]
