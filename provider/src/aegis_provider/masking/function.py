"""The base classes of masking functions, their random draws, and checks of their parameters."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from itertools import pairwise
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.errors import UnmaskableValueError
from aegis_provider.table.arithmetic import json_number
from aegis_provider.table.values import Domain
from aegis_provider.yaml_file import Element
from aegis_sdk.reading import in_words

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


# Messages quote only masked values shorter than this; those of the huge ends of open bins are longer.
_LONGEST = 70


class Function(ABC):
    """A function that a plan can apply to the values of an attribute. Invalid parameters are a `ValueError`.

    To add a masking function, write a class of one of the kinds below and add a line to the registry; nothing else
    needs its name. `aegis_sdk.reading.maskings` may describe it; otherwise its name and parameters are shown.

    Attributes:
        name: Its name in the plan and the entry.
        published: Its fields that the entry states; all others stay private.
        file_keys: Its parameters that name a file.
        keys_beside: The keys beside its name in the plan that belong to it.
        secret: Whether the mapping is secret, because anyone who knows it could undo the masking.
    """

    name: ClassVar[str]
    published: ClassVar[tuple[str, ...]] = ()
    file_keys: ClassVar[tuple[str, ...]] = ()
    keys_beside: ClassVar[tuple[str, ...]] = ()
    secret: ClassVar[bool] = False

    @classmethod
    def read(cls, parameters: Element) -> "Function":
        """Read the function's parameters from the plan, by default `{}`.

        Raises:
            PlanError: The parameters are invalid; the message names the place.
        """
        parameters.fields()
        return cls()

    def parameters(self) -> dict[str, object]:
        """Return the parameters of the function in the published entry, as JSON values: the `published` ones stated."""
        stated = {name: getattr(self, name) for name in self.published}
        return {name: _as_json(value) for name, value in stated.items() if value is not None}

    def describe(self) -> str:
        """Describe the function in the words that readers of the entry see."""
        return in_words(self.name, self.parameters())


def _as_json(value: object) -> object:
    match value:
        case Decimal():
            return json_number(value)
        case Mapping():
            return {name: _as_json(within) for name, within in value.items()}
        case tuple():
            return list(map(_as_json, value))
        case _:
            return value


class MaskingFunction(Function):
    """A masking function `M` that gives every value of `Dom(A)` a masked value.

    Attributes:
        keeps_parts: Whether masked values keep characters or units of the values in their places.
    """

    keeps_parts: ClassVar[bool] = False

    @abstractmethod
    def mask(self, domain: Domain) -> list[str]:
        """Return the masked text of each value.

        Raises:
            UnmaskableValueError: A value has no masked text.
        """

    def mask_bins(self, domain: Domain, ends: tuple[Domain, Domain]) -> list[str]:
        """Return the masked text of each bin.

        Args:
            ends: The lowest number of each bin, and one just below its upper end.

        Raises:
            UnmaskableValueError: A bin has no masked value, or the function would cut it.
        """
        del ends
        return self.mask(domain)


class NumberFunction(MaskingFunction):
    """A masking function of numbers. It must mask both ends of a bin alike."""

    def mask_bins(self, domain: Domain, ends: tuple[Domain, Domain]) -> list[str]:
        """Return the masked text that both ends of each bin have."""
        lowest, highest = map(self.mask, ends)
        for text, low, high in zip(domain.texts, lowest, highest, strict=True):
            if low != high:
                both = " and ".join(repr(end) for end in (low, high) if len(end) < _LONGEST)
                raise UnmaskableValueError(
                    text,
                    f"is a bin that {self.name} would cut: {both} would share it; use edges that are edges of the bins",
                )
        return lowest


class FittedFunction(Function):
    """A masking function that is known only once the values are counted."""

    @abstractmethod
    def fit(self, domain: Domain, histogram: IntArray, *, binned: bool = False) -> MaskingFunction:
        """Return the function for a table in which `histogram[i]` records have value `i` of the domain.

        Args:
            domain: The values; for bins, the numbers at which they begin.
            histogram: (values,) The records of each.
            binned: Whether they are bins.
        """


class RandomFunction(Function):
    """A random masking: equal values may get different masked values."""

    @abstractmethod
    def draw(self, domain: Domain, counts: IntArray, random: np.random.Generator) -> Draw:
        """Draw the masked values of the records, given the joint counts (values, labels).

        Raises:
            UnmaskableValueError: As for `MaskingFunction.mask`.
            ValueError: The domain is too large.
        """


class DrawnByRow(RandomFunction):
    """A random masking that draws the masked value of each record independently, by the row of its value."""

    @abstractmethod
    def transition(self, domain: Domain) -> tuple[Sequence[str], FloatArray]:
        """Return the masked values that some value of the domain may become, and (values, masked) their probabilities.

        Rows sum to 1. A missing masked value comes first.

        Raises:
            UnmaskableValueError: A value has no masked value.
            ValueError: The matrix is too large.
        """

    def draw(self, domain: Domain, counts: IntArray, random: np.random.Generator) -> Draw:
        """Draw by `transition`, given the joint counts (values, labels)."""
        texts, transition = self.transition(domain)
        drawn = random.multinomial(counts, transition[:, np.newaxis, :])
        return Draw(tuple(texts), drawn.astype(np.int64), transition)


def check_above_zero(name: str, number: Decimal) -> None:
    """Require a finite number above 0."""
    if not (number.is_finite() and number > 0):
        raise ValueError(f"`{name}` must be a number above 0, not {number}")


def check_finite(name: str, number: Decimal) -> None:
    """Require a finite number."""
    if not number.is_finite():
        raise ValueError(f"`{name}` must be a finite number, not {number}")


def check_ascending(name: str, numbers: tuple[Decimal, ...]) -> None:
    """Require ascending numbers."""
    for lower, upper in pairwise(numbers):
        if lower.compare(upper) != -1:  # NaN exceeds nothing
            raise ValueError(f"{name} must ascend, but {upper} follows {lower}")


def check_level(level: int, levels: int) -> None:
    """Require a level from 1 to the number of levels."""
    if not 1 <= level <= levels:
        raise ValueError(f"has levels 1 to {levels}, not {level}")


def check_character(character: str) -> None:
    """Require one character that can be part of a line of text."""
    if len(character) != 1 or character in "\r\n\0":
        raise ValueError(f"`character` must be one character, not {character!r}")
