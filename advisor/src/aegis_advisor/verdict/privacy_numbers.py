"""Small counts that follow from the privacy values of configurations."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.reconstruction.ipf import never
from aegis_advisor.verdict.model import Finding, PublishedCounts, Reason
from aegis_advisor.verdict.privacy_steps import Totals, telling_numbers

_DEVIATIONS: Final = 5
"""Noise beyond this many times its scale is not expected."""


def find_in_privacy(published: PublishedCounts, stop: Callable[[], bool] = never) -> Iterator[Finding]:
    """Yield the privacy values from which small counts follow, if the label is sensitive.

    The sensitive attributes are not published; readers are assumed to know that the label is one.

    Args:
        published: the counts.
        stop: called for each distinct configuration; if true, the others are undecided.
    """
    totals, releases = label_totals(published.evidence[0]), published.releases
    names, columns = tuple(releases.privacy), tuple(releases.privacy.values())
    known: dict[tuple[float | None, ...], Mapping[str, Mapping[str, int]]] = {}
    for place, numbers in enumerate(zip(*columns, strict=True)):
        if numbers not in known:
            if stop():
                yield Finding(Reason.UNDECIDED, releases.place_of(place, names[0]), 1)
                return
            stated = zip(names, numbers, strict=True)
            known[numbers] = telling_numbers({name: each for name, each in stated if each is not None}, totals)
        for name, counts in known[numbers].items():
            yield Finding(Reason.CERTAIN, releases.place_of(place, name), len(counts))


def label_totals(evidence: AttributeEvidence) -> Totals:
    """Return the minimum and maximum records of each label value; a listed one has a record."""
    off = evidence.label_perturbation
    if off.noise_scale is not None:
        slack = int(_DEVIATIONS * off.noise_scale)
    else:
        slack = (off.rounded_to or evidence.rounded_once or 1) - 1
    return tuple((max(1, count - slack), max(1, count + slack)) for count in evidence.label_histogram.tolist())
