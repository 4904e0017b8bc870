"""What chance made of the records of an attribute, and where chance comes from."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]

# As many probabilities as the service takes in an entry.
_MOST_PROBABILITIES = 250_000


@dataclass(frozen=True, eq=False)
class Draw:
    """The masked values of an attribute in one release.

    Attributes:
        texts: (masked,) the masked values, in order.
        counts: (values, labels, masked) how many of the records with a value and a label get each masked value; they
            sum over the last axis to the joint counts of the attribute. Where the masked value does not depend on the
            value, (1, labels, masked).
        transition: (values, masked) the probability of each masked value given the value, `None` where the records'
            masked values are not drawn one by one.
    """

    texts: tuple[str, ...]
    counts: IntArray
    transition: FloatArray | None = None

    def joint(self) -> IntArray:
        """(masked, labels) the joint counts of the masked attribute and the label."""
        joint: IntArray = self.counts.sum(axis=0).T
        return joint

    @classmethod
    def by_transition(
        cls, texts: Sequence[str], transition: FloatArray, counts: IntArray, random: np.random.Generator
    ) -> "Draw":
        """Every record's masked value drawn by itself, by the row of its value.

        Args:
            texts: the masked values.
            transition: (values, masked), rows sum to 1.
            counts: (values, labels).
            random: where chance comes from.
        """
        drawn = random.multinomial(counts, transition[:, np.newaxis, :])
        return cls(tuple(texts), drawn.astype(np.int64), transition)


def random_for(seed: int, attribute: str, masking_id: str) -> np.random.Generator:
    """The source of chance of one masking: the same for the same plan, and independent of that of any other masking.

    The seed is the plan's. It is as secret as the table: who knows it can repeat every draw.
    """
    name = sha256(f"{len(attribute)} {attribute} {masking_id}".encode()).digest()
    return np.random.default_rng(np.random.SeedSequence([seed, int.from_bytes(name)]))


def refuse_too_many(values: int, masked: int) -> None:
    """Refuses a transition matrix that no service takes.

    Raises:
        ValueError: it has too many probabilities.
    """
    if values * masked > _MOST_PROBABILITIES:
        raise ValueError(
            f"{values} values with {masked} masked values each make a transition matrix of {values * masked} "
            f"probabilities, and an entry holds {_MOST_PROBABILITIES}: take fewer masked values, or values"
        )
