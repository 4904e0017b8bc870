"""What rivals do with the attributes of a configuration: score the masking of each, and add up."""

from collections.abc import Callable, Sequence

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.evidence import AttributeEvidence
from app.domain.configurations import ConfigurationTable

Scores = Callable[[AttributeEvidence, Sequence[str]], Sequence[float]]
"""The score of an attribute under each of some of its masking ids, `identity` and `drop` among them."""


def summed(evidence: Sequence[AttributeEvidence], configurations: ConfigurationTable, scores: Scores) -> FloatArray:
    """(configurations,) the sum over the attributes of the score of the masking that a configuration uses.

    Attributes are scored one after the other, each once, under the maskings that configurations use.
    """
    total = np.zeros(len(configurations.ids))
    for one, options, codes in zip(evidence, configurations.options, configurations.codes.T, strict=True):
        used, place = np.unique(codes, return_inverse=True)
        total += np.array(scores(one, [options[code] for code in used]))[place]
    return total
