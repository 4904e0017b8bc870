"""Random draws of an attribute's masked values, and the random generator of each masking."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]

# The most probabilities that the service accepts in an entry.
_MOST_PROBABILITIES = 250_000


@dataclass(frozen=True, eq=False)
class Draw:
    """The masked values of an attribute in one release.

    Attributes:
        texts: (masked,) the masked values, in order.
        counts: (values, labels, masked) the number of records with a value and a label that get each masked value.
            Summed over the last axis, they are the joint counts of the attribute. If the masked value does not depend
            on the value, the shape is (1, labels, masked).
        transition: (values, masked) the probability of each masked value given the value; `None` if the records'
            masked values are not drawn one by one.
    """

    texts: tuple[str, ...]
    counts: IntArray
    transition: FloatArray | None = None

    def joint(self) -> IntArray:
        """Return (masked, labels) the joint counts of the masked attribute and the label."""
        joint: IntArray = self.counts.sum(axis=0).T
        return joint

    @classmethod
    def by_transition(
        cls, texts: Sequence[str], transition: FloatArray, counts: IntArray, random: np.random.Generator
    ) -> "Draw":
        """Draw every record's masked value independently, by the row of its value.

        Args:
            texts: The masked values.
            transition: (values, masked) probabilities; rows sum to 1.
            counts: (values, labels) joint counts of the attribute.
            random: The random generator.
        """
        drawn = random.multinomial(counts, transition[:, np.newaxis, :])
        return cls(tuple(texts), drawn.astype(np.int64), transition)


def random_for(seed: int, attribute: str, masking_id: str) -> np.random.Generator:
    """Return the random generator of one masking: the same for the same plan, and independent of other maskings'.

    The seed is the plan's. It is as secret as the table, because anyone who knows it can repeat every draw.
    """
    name = sha256(f"{len(attribute)} {attribute} {masking_id}".encode()).digest()
    return np.random.default_rng(np.random.SeedSequence([seed, int.from_bytes(name)]))


def refuse_too_many(values: int, masked: int) -> None:
    """Reject a transition matrix that is too large for the service.

    Raises:
        ValueError: It has too many probabilities.
    """
    if values * masked > _MOST_PROBABILITIES:
        raise ValueError(
            f"{values} values with {masked} masked values each make a transition matrix of {values * masked} "
            f"probabilities, but an entry can have {_MOST_PROBABILITIES}; use fewer masked values or values"
        )
