"""The base classes of masking functions, and checks of their parameters."""

from abc import ABC, abstractmethod
from decimal import Decimal
from itertools import pairwise
from typing import ClassVar

import numpy as np

from aegis_provider.errors import UnmaskableValueError
from aegis_provider.masking.draw import Draw, IntArray
from aegis_provider.table.values import Domain
from aegis_provider.yaml_file import Element
from aegis_sdk.reading import in_words

# Messages quote only masked values shorter than this; those of the huge ends of open bins are longer.
_LONGEST = 70


class Function(ABC):
    """A function that a plan can apply to the values of an attribute. Invalid parameters are a `ValueError`.

    To add a masking function, write a class of one of the kinds below and add a line to the registry; nothing else
    needs its name. `aegis_sdk.reading.maskings` may describe it; otherwise its name and parameters are shown.

    Attributes:
        name: Its name in the plan and the entry.
        file_keys: Its parameters in the plan that name a file.
        keys_beside: The keys beside its name in the plan that belong to it.
        secret: Whether the mapping is secret, because anyone who knows it could undo the masking.
    """

    name: ClassVar[str]
    file_keys: ClassVar[tuple[str, ...]] = ()
    keys_beside: ClassVar[tuple[str, ...]] = ()
    secret: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def read(cls, parameters: Element) -> "Function":
        """Read the function's parameters from the plan.

        Raises:
            PlanError: The parameters are invalid; the message names the place.
        """

    @abstractmethod
    def parameters(self) -> dict[str, object]:
        """Return the parameters of the function in the published entry, as JSON values."""

    def describe(self) -> str:
        """Describe the function in the words that readers of the entry see."""
        return in_words(self.name, self.parameters())


class MaskingFunction(Function):
    """A masking function `M` that gives every value of `Dom(A)` a masked value.

    Attributes:
        keeps_parts: Whether masked values have characters or units of the values at their places.
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
            domain: The bins.
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
                raise UnmaskableValueError(text, self._cut(low, high))
        return lowest

    def _cut(self, low: str, high: str) -> str:
        ends = " and ".join(repr(text) for text in (low, high) if len(text) < _LONGEST)
        return f"is a bin that {self.name} would cut: {ends} would share it; use edges that are edges of the bins"


class FittedFunction(Function):
    """A masking function that is known only once the values are counted."""

    @abstractmethod
    def fit(self, domain: Domain, histogram: IntArray, *, binned: bool = False) -> MaskingFunction:
        """Return the function for a table in which `histogram[i]` records have value `i` of the domain.

        Args:
            domain: The values; for bins, the numbers at which they begin.
            histogram: (values,) The records of each.
            binned: Whether they are bins.

        Raises:
            UnmaskableValueError: As for `MaskingFunction.mask`.
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
