"""The privacy of a table: its equivalence classes, the criteria they meet, and the risk that a person is re-identified.

    records = DistinctRecords.of(counted, [*quasi_identifiers, *sensitive])
    classes = classes_of(records, mappings, quasi_identifiers, sensitive)
    measure_privacy(classes)                       # {"k": 5, "l": 2, "t": 0.31, ...}
    broken = breaks(classes, {"k": 10, "t": 0.3})  # which classes
    measure_privacy(classes.without(broken))

Of a table in a file, with or without its plan: `assess`.
"""

from aegis_provider.privacy.assessed import Assessed, Verdict
from aegis_provider.privacy.assessment import IN_BINS, Assessment, assess
from aegis_provider.privacy.class_sizes import ClassSizes
from aegis_provider.privacy.classes import Classes, SensitiveCounts, class_of_each, classes_of
from aegis_provider.privacy.columns import Column, columns_of, maskings_in_short, roles_of
from aegis_provider.privacy.criteria import AT_LEAST, MEASURED, breaks, by_class, holds, measure_privacy
from aegis_provider.privacy.release import PrivacyTable
from aegis_provider.privacy.risk import THRESHOLDS, Risk
from aegis_provider.privacy.roles import plan_of_roles

__all__ = [
    "AT_LEAST",
    "IN_BINS",
    "MEASURED",
    "THRESHOLDS",
    "Assessed",
    "Assessment",
    "ClassSizes",
    "Classes",
    "Column",
    "PrivacyTable",
    "Risk",
    "SensitiveCounts",
    "Verdict",
    "assess",
    "breaks",
    "by_class",
    "class_of_each",
    "classes_of",
    "columns_of",
    "holds",
    "maskings_in_short",
    "measure_privacy",
    "plan_of_roles",
    "roles_of",
]
