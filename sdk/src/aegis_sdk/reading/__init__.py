"""Reading entries and advice: configurations in one form, lattices, functions in plain words, and the certainty of
the numbers of an advice.

Part of the base installation; needs only Python.
"""

from aegis_sdk.printable import DASH, Share, as_sentence, number, one_line, percent, share_with_limits, shown, some
from aegis_sdk.reading.advice import (
    Bounds,
    deviation_bounds,
    headline,
    kept_by_best,
    outcome,
    reference_known,
    stated_deviation,
    utility_bounds,
    whole_of,
)
from aegis_sdk.reading.configurations import (
    GeneratedOutline,
    configurations_of,
    declares_joint,
    generated_of,
    ids_of,
    maskings_in,
    maskings_of,
    measured_of,
    promises_of,
    vouched_for,
)
from aegis_sdk.reading.disclosure import (
    ACCEPT_UNIQUE,
    LEAST_SHARE,
    Alone,
    alone_at_most,
    few_in_words,
    private_only,
    read_together_line,
    share_alone,
    verdict_in_words,
    verdict_line,
)
from aegis_sdk.reading.maskings import Lattice, Node, in_words, lattice_of
from aegis_sdk.reading.outline import AttributeOutline, EntryOutline, MaskingOutline, outline_of, seen_by

__all__ = [
    "ACCEPT_UNIQUE",
    "DASH",
    "LEAST_SHARE",
    "Alone",
    "AttributeOutline",
    "Bounds",
    "EntryOutline",
    "GeneratedOutline",
    "Lattice",
    "MaskingOutline",
    "Node",
    "Share",
    "alone_at_most",
    "as_sentence",
    "configurations_of",
    "declares_joint",
    "deviation_bounds",
    "few_in_words",
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
    "utility_bounds",
    "verdict_in_words",
    "verdict_line",
    "vouched_for",
    "whole_of",
]
