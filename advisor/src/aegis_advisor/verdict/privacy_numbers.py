"""Small counts that follow from the privacy that configurations vouch for."""

from collections.abc import Iterator

from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.verdict.model import Finding, PublishedCounts, Reason
from aegis_advisor.verdict.privacy_steps import Totals, telling_numbers

_DEVIATIONS = 5
"""Noise beyond so many times its scale is not expected."""


def find_in_privacy(published: PublishedCounts) -> Iterator[Finding]:
    """Yield the numbers of privacy from which small counts follow, if the label is what is sensitive.

    Which attributes are sensitive is not published. Readers are taken to know that the label is.
    """
    totals = label_totals(published.evidence[0])
    releases = published.releases
    for place in range(len(releases.codes)):
        stated = {name: column[place] for name, column in releases.privacy.items()}
        privacy = {name: number for name, number in stated.items() if number is not None}
        for name, counts in telling_numbers(privacy, totals).items():
            yield Finding(Reason.CERTAIN, releases.place_of(place, name), len(counts))


def label_totals(evidence: AttributeEvidence) -> Totals:
    """Return the least and the most records of each label value; a listed one has a record."""
    off = evidence.label_perturbation
    if off.noise_scale is not None:
        slack = int(_DEVIATIONS * off.noise_scale)
    else:
        slack = (off.rounded_to or evidence.rounded_once or 1) - 1
    return tuple((max(1, count - slack), max(1, count + slack)) for count in evidence.label_histogram.tolist())
