"""What values tell about the label of records that were left out when this was learned."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.measures.partial_table import entropy

#: How many records of the whole table each value is learned with; the best one is chosen.
_WEIGHTS: Final = (0.1, 1.0, 10.0)


def held_out_share(joint: NDArray[np.int64]) -> float:
    """Return the share of the label's entropy that values tell about records left out one by one, from 0 to 1.

    Each record's label is predicted from the other records with its value, smoothed by the shares `q` of all labels:
    `p(y | a) = (n(a, y) - 1 + w q(y)) / (n(a) - 1 + w)`, and the result is `1 - mean(-log2 p) / H(Y)` for the best `w`.
    Values of one record, such as ids, tell nothing, whereas their mutual information is all there is.

    Ney, Essen & Kneser 1995, "On the estimation of 'small' probabilities by leaving-one-out", section 2.

    Args:
        joint: (values, labels) counts.
    """
    labels = joint.sum(axis=0)
    whole = entropy(labels.astype(float))
    if whole <= 0:
        return 0.0
    values, places = np.nonzero(joint)
    counts, of_value = joint[values, places], joint.sum(axis=1)[values]
    usual = labels[places] / labels.sum()
    lost = min(float(counts @ np.log2((of_value - 1 + weight) / (counts - 1 + weight * usual))) for weight in _WEIGHTS)
    return min(1.0, max(0.0, 1 - lost / (float(labels.sum()) * whole)))
