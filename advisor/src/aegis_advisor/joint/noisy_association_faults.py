"""Checks of noisy associations of two masked attributes with the label: only faults that no plausible noise
explains.
"""

from collections.abc import Iterator

import numpy as np

from aegis_advisor.evidence import AttributeEvidence, PairAssociation, PairCounts
from aegis_advisor.evidence.checks import Fault
from aegis_advisor.evidence.perturbation import IMPLAUSIBLE, largest_noise


def noisy_association_faults(
    index: int, one: PairAssociation, evidence: AttributeEvidence, sizes: tuple[int, int], pair: PairCounts | None
) -> Iterator[Fault]:
    """The faults of an association with declared noise.

    Noise is implausible beyond the bound that any of its numbers exceeds with probability at most `IMPLAUSIBLE`.

    Args:
        index: its place.
        one: the association.
        evidence: the attributes; any of them has the label's counts.
        sizes: the number of masked values of each side.
        pair: the pair counts of the two, noisy or not; None if they are not known.
    """
    noise = largest_noise(one.noise_scale or 0.0, 1, IMPLAUSIBLE / (evidence.labels + 1)) + 1
    least, most = _held(pair), sizes[0] * sizes[1]
    if not max(1, least - noise) <= one.combinations <= most + noise:
        detail = f"is {one.combinations}, but by the counts and the declared noise there are {least} to {most}"
        yield Fault((index, "with_label", "combinations"), f"{detail}, give or take {noise}")
    limit = _largest(evidence, noise)
    if one.chi_square > limit:
        detail = f"is {one.chi_square:.12g}, but with the declared noise it is at most {limit:.12g}"
        yield Fault((index, "with_label", "chi_square"), detail)


def _held(pair: PairCounts | None) -> int:
    """The number of combinations whose counts plausible noise cannot explain, so that they occur."""
    if pair is None:
        return 0
    return int(np.count_nonzero(pair.joint > pair.perturbation.slack(1, pair.joint.size)))


def _largest(evidence: AttributeEvidence, noise: int) -> float:
    """The largest chi-square that is plausible: each sum `S_j` is at most the records of label value `j`."""
    label, (each, _) = evidence.label_counts, evidence.label_slack
    held = label[label > 0].astype(np.float64)
    return float(held.sum()) * max(held.size - 1 + float(np.sum((noise + each) / held)), 0.0)
