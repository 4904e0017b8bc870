"""The privacy of a table: its equivalence classes, the criteria they meet, and the risk of re-identification.

    records = DistinctRecords.of(counted, [*quasi_identifiers, *sensitive])
    classes = classes_of(records, mappings, quasi_identifiers, sensitive)
    measure_privacy(classes)                       # {"k": 5, "l": 2, "t": 0.31, ...}
    broken = breaks(classes, {"k": 10, "t": 0.3})  # which classes
    measure_privacy(classes.without(broken))

`assess` does this for a table in a file, with or without its plan.
"""

from aegis_provider.privacy.assessment import (
    IN_BINS,
    Assessment,
    Column,
    ReleasePrivacy,
    Verdict,
    assess,
    columns_of,
    maskings_in_short,
    plan_of_roles,
    promises_nothing,
    roles_of,
)
from aegis_provider.privacy.certain_values import (
    CERTAIN_VALUES_REMEDY,
    SURE,
    certain_and_guessable,
    certain_values_warning,
    says_certain,
)
from aegis_provider.privacy.classes import (
    THRESHOLDS,
    Classes,
    ClassSizes,
    Risk,
    SensitiveCounts,
    class_of_each,
    classes_as_written,
    classes_by_role,
    classes_in,
    classes_of,
)
from aegis_provider.privacy.criteria import CRITERIA, Criterion, without_left_out
from aegis_provider.privacy.known_rows import KnownRows, KnownShares, share_of_people
from aegis_provider.privacy.measuring import (
    BY_LABEL,
    breaks,
    holds,
    left_out_people,
    measure_privacy,
    measure_worst,
    measured_names,
    refuse_without_order,
)
from aegis_provider.privacy.privacy_table import PrivacyTable

__all__ = [
    "BY_LABEL",
    "CERTAIN_VALUES_REMEDY",
    "CRITERIA",
    "IN_BINS",
    "SURE",
    "THRESHOLDS",
    "Assessment",
    "ClassSizes",
    "Classes",
    "Column",
    "Criterion",
    "KnownRows",
    "KnownShares",
    "PrivacyTable",
    "ReleasePrivacy",
    "Risk",
    "SensitiveCounts",
    "Verdict",
    "assess",
    "breaks",
    "certain_and_guessable",
    "certain_values_warning",
    "class_of_each",
    "classes_as_written",
    "classes_by_role",
    "classes_in",
    "classes_of",
    "columns_of",
    "holds",
    "left_out_people",
    "maskings_in_short",
    "measure_privacy",
    "measure_worst",
    "measured_names",
    "plan_of_roles",
    "promises_nothing",
    "refuse_without_order",
    "roles_of",
    "says_certain",
    "share_of_people",
    "without_left_out",
]
