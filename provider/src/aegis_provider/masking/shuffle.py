"""`shuffle`: the values of an attribute, permuted over the records."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from aegis_provider.masking.draw import Draw, IntArray
from aegis_provider.masking.function import RandomFunction
from aegis_provider.table.values import Domain

# NumPy draws without replacement from fewer than this.
_MOST_RECORDS = 10**9


@dataclass(frozen=True)
class Shuffle(RandomFunction):
    """The attribute's values, missing ones among them, given to its records by a permutation, each as likely.

    Its histogram stays; what it told of the label, and of other attributes, goes. Source: Hundepool et al., Statistical
    Disclosure Control (2012), "data swapping", without a limit to the ranks.
    """

    name: ClassVar[str] = "shuffle"

    def parameters(self) -> dict[str, object]:
        """None."""
        return {}

    def describe(self) -> str:
        """`the same values, permuted over the records`."""
        return "the same values, permuted over the records"

    def draw(self, domain: Domain, counts: IntArray, random: np.random.Generator) -> Draw:
        """A table of masked value and label, as likely as the permutations are many that lead to it.

        Its `counts` are (1, labels, masked). Raises `ValueError` for a billion records or more.
        """
        if counts.sum() >= _MOST_RECORDS:
            raise ValueError(f"a shuffle takes fewer than {_MOST_RECORDS} records")
        left, drawn = counts.sum(axis=1), np.zeros(counts.shape[::-1], dtype=np.int64)
        for label, records in enumerate(counts.sum(axis=0)):
            drawn[label] = random.multivariate_hypergeometric(left, records, method="marginals")
            left = left - drawn[label]
        return Draw(domain.texts, drawn[np.newaxis])
