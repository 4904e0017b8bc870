"""The published trace of the unmasked table, and its bounds from the counts."""

from collections.abc import Iterator, Sequence

import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_advisor.evidence import AttributeEvidence, PublishedTrace
from aegis_advisor.evidence.checks import Fault
from aegis_advisor.measures.association import mean_square_adjustment, mean_square_contingency

SLACK = 1e-9
"""The provider and the service compute traces from the same counts, in another order."""


def largest_part(evidence: Sequence[AttributeEvidence]) -> float:
    """The largest adjusted trace of a single attribute or masking with exact counts; 0 if there are none.

    The adjustment can make the joint trace smaller than that of a part. A published trace is at least the largest part.
    """
    tables = [table for one in evidence for table in _exact_tables(one)]
    return max((_adjusted(table) for table in tables), default=0.0)


def find_trace_faults(evidence: Sequence[AttributeEvidence], published: PublishedTrace) -> Iterator[Fault]:
    """Yield a fault if no table with these counts has this trace; its path starts at the trace's object.

    Only single attributes are checked, which is fast: the trace of their exact counts must not exceed that of all
    attributes together, and this must not exceed the number of classes less one.
    """
    if published.most < largest_part(evidence) - SLACK:
        yield Fault(("value",), "Is less than the adjusted trace of a single attribute")
    most = min(_classes(one) for one in evidence)
    if published.least > most + SLACK:
        yield Fault(("value",), f"Exceeds {most}, the number of label values with records less one")


def _exact_tables(evidence: AttributeEvidence) -> Iterator[IntArray]:
    if evidence.rounded_once is not None:
        return
    if evidence.joint is not None:
        yield evidence.joint
    for masking in evidence.maskings:
        if masking.exact and masking.joint is not None:
            yield masking.joint


def _adjusted(counts: IntArray) -> float:
    table = counts.astype(np.float64)
    return mean_square_contingency(table) - mean_square_adjustment(table)


def _classes(evidence: AttributeEvidence) -> int:
    """The number of label values that may have records, less one."""
    certain = evidence.rounded_once is None and evidence.knows_label
    return int(np.count_nonzero(evidence.label_counts)) - 1 if certain else evidence.labels - 1
