"""
The privacy of a table: its equivalence classes, the criteria they meet, and the risk that a person is re-identified.

    records = DistinctRecords.of(counted, [*quasi_identifiers, *sensitive])
    classes = classes_of(records, mappings, quasi_identifiers, sensitive)
    measure_privacy(classes)                       # {"k": 5, "l": 2, "t": 0.31, ...}
    broken = breaks(classes, {"k": 10, "t": 0.3})  # which classes
    measure_privacy(classes.without(broken))
"""

from aegis_sdk.provider.privacy.classes import Classes, SensitiveCounts, class_of_each, classes_of
from aegis_sdk.provider.privacy.criteria import AT_LEAST, MEASURED, breaks, by_class, holds, measure_privacy

__all__ = [
    "AT_LEAST",
    "MEASURED",
    "Classes",
    "SensitiveCounts",
    "breaks",
    "by_class",
    "class_of_each",
    "classes_of",
    "holds",
    "measure_privacy",
]
