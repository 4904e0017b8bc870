"""Mascara's utility estimator: how much a masking blurs the values, whatever is to be predicted.

Poepsel-Lemaitre, Beedkar & Markl 2024, Disclosure-compliant query answering. Proc. ACM Manag. Data 2(6), 233.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import rel_entr

from aegis_advisor.arrays import FloatArray, IntArray, fold
from aegis_advisor.evidence import AttributeEvidence
from app.entries.model.configurations import ConfigurationTable
from research.study import Study, mapping_of, summed


def mascara(study: Study) -> FloatArray:
    """Return (configurations,) Mascara's loss of information with its sign changed, in bits: higher is better."""
    return -information_loss(study.evidence, study.configurations)


def information_loss(
    evidence: Sequence[AttributeEvidence], configurations: ConfigurationTable, suppressed: FloatArray | None = None
) -> FloatArray:
    """Return (configurations,) the sum of the attributes' divergences times (1 + share suppressed), in bits.

    Args:
        suppressed: (configurations,) the share of records that a configuration leaves out; 0 by default.

    Raises:
        ValueError: an attribute has no histogram, or the mapping of a masking is not known.
    """
    lost = summed(evidence, configurations, _losses)
    return lost if suppressed is None else lost * (1.0 + suppressed)


def _losses(evidence: AttributeEvidence, options: Sequence[str]) -> list[float]:
    histogram = evidence.value_counts
    if histogram is None:
        raise ValueError(f"Mascara needs the histogram of {evidence.name!r}")
    return [blurring(histogram, mapping_of(evidence, option)) for option in options]


def blurring(histogram: IntArray, mapping: IntArray) -> float:
    """Return the KL divergence, in bits, of a histogram (values,) from itself spread evenly within each masked value.

    An observer of a masked value takes all values behind it as equally likely, including those without records.
    """
    counts = histogram.astype(np.float64)
    groups = int(mapping.max()) + 1
    spread = (fold(counts, mapping, groups) / np.maximum(np.bincount(mapping, minlength=groups), 1))[mapping]
    return float(rel_entr(counts, spread).sum() / counts.sum() / np.log(2))
