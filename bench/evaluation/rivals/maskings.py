"""What all rivals do with the attributes of a configuration: score the masking of each, and add up."""

from collections.abc import Callable, Sequence

import numpy as np

from app.advisor.arrays import FloatArray
from app.advisor.evidence import AttributeEvidence
from app.domain.configurations import ConfigurationTable


def summed(
    evidence: Sequence[AttributeEvidence],
    configurations: ConfigurationTable,
    score: Callable[[AttributeEvidence, str], float],
) -> FloatArray:
    """(configurations,) the sum over the attributes of the score of the masking that a configuration uses.

    Every masking is scored once, and only if a configuration uses it.
    """
    total = np.zeros(len(configurations.ids))
    for one, options, codes in zip(evidence, configurations.options, configurations.codes.T, strict=True):
        used, place = np.unique(codes, return_inverse=True)
        total += np.array([score(one, options[code]) for code in used])[place]
    return total
