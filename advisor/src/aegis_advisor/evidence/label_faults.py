"""Exact counts beside an inexact histogram of the label: they have to agree on the label with each other."""

from collections.abc import Iterator, Sequence
from itertools import islice

from aegis_advisor.arrays import IntArray
from aegis_advisor.evidence.attribute import AttributeEvidence
from aegis_advisor.evidence.fault import FAULTS_PER_TABLE, Fault, Path
from aegis_advisor.evidence.table_faults import column_faults, total_faults


def find_label_faults(evidence: Sequence[AttributeEvidence]) -> tuple[Fault, ...]:
    """Find exact tables that count other records of the label than the first does, and histograms; at most 100.

    Where the label's histogram is exact each has been compared with it; where it is not, that told little. The
    evidence is sound otherwise. Paths start at the list of attributes.
    """
    return tuple(islice(_faults(evidence), FAULTS_PER_TABLE))


def _faults(evidence: Sequence[AttributeEvidence]) -> Iterator[Fault]:
    if not evidence or evidence[0].label_perturbation.is_none:
        return
    exact = [table for place, attribute in enumerate(evidence) for table in _exact(place, attribute)]
    for path, table in exact[1:]:
        first, label = exact[0]
        yield from column_faults(path, table, label.sum(axis=0), says=f"{_named(first)} counts")
    histograms = [
        ((place, "histogram"), attribute.histogram)
        for place, attribute in enumerate(evidence)
        if attribute.histogram is not None
    ]
    for path, counts in histograms:
        first, known = (exact or histograms)[0]
        yield from total_faults(path, counts, int(known.sum()), says=f"{_named(first)} counts")


def _named(path: Path) -> str:
    return "/".join(("", "attributes", *map(str, path)))


def _exact(place: int, evidence: AttributeEvidence) -> Iterator[tuple[Path, IntArray]]:
    """Every exact table (groups, labels) of an attribute, and where it is."""
    if evidence.joint is not None:
        yield (place, "joint"), evidence.joint
    for index, masking in enumerate(evidence.maskings):
        if masking.joint is not None and masking.perturbation.is_none:
            yield (place, "maskings", index, "joint"), masking.joint
