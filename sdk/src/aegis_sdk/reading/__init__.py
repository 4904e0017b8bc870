"""Reading entries and advice: configurations in one form, lattices, functions in plain words, and the certainty of
the numbers of an advice.

Part of the base installation; needs only Python.
"""

from aegis_sdk.printable import as_sentence, one_line, shown, some
from aegis_sdk.reading.alone import (
    ACCEPT_UNIQUE,
    LEAST_SHARE,
    MOST_ALONE,
    Alone,
    alone_at_most,
    private_only,
    share_alone,
)
from aegis_sdk.reading.certainty import Bounds, deviation_bounds, reference_known, stated_deviation, utility_bounds
from aegis_sdk.reading.configurations import (
    configurations_of,
    ids_of,
    maskings_in,
    maskings_of,
    measured_of,
    promises_of,
    suppressed_cells_of,
    vouched_for,
)
from aegis_sdk.reading.function_words import in_words, unit_of
from aegis_sdk.reading.generated import AttackOutline, GeneratedOutline, declares_joint, generated_in, generated_of
from aegis_sdk.reading.headline import Kept, Whole, headline, kept_by_best, outcome, whole_of
from aegis_sdk.reading.lattice import Lattice, Node, lattice_of
from aegis_sdk.reading.numbers import DASH, Share, number, percent, share_with_limits
from aegis_sdk.reading.outline import AttributeOutline, EntryOutline, MaskingOutline, Range, outline_of, seen_by
from aegis_sdk.reading.verdict import few_in_words, read_together_line, verdict_in_words, verdict_line

__all__ = [
    "ACCEPT_UNIQUE",
    "DASH",
    "LEAST_SHARE",
    "MOST_ALONE",
    "Alone",
    "AttackOutline",
    "AttributeOutline",
    "Bounds",
    "EntryOutline",
    "GeneratedOutline",
    "Kept",
    "Lattice",
    "MaskingOutline",
    "Node",
    "Range",
    "Share",
    "Whole",
    "alone_at_most",
    "as_sentence",
    "configurations_of",
    "declares_joint",
    "deviation_bounds",
    "few_in_words",
    "generated_in",
    "generated_of",
    "headline",
    "ids_of",
    "in_words",
    "kept_by_best",
    "lattice_of",
    "maskings_in",
    "maskings_of",
    "measured_of",
    "number",
    "one_line",
    "outcome",
    "outline_of",
    "percent",
    "private_only",
    "promises_of",
    "read_together_line",
    "reference_known",
    "seen_by",
    "share_alone",
    "share_with_limits",
    "shown",
    "some",
    "stated_deviation",
    "suppressed_cells_of",
    "unit_of",
    "utility_bounds",
    "verdict_in_words",
    "verdict_line",
    "vouched_for",
    "whole_of",
]
