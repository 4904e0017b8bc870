"""What all masking functions share: their kinds, how a plan states them, and what their parameters must be."""

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

# Of a masked value that a sentence quotes; those of the ends of an open bin are longer.
_LONGEST = 70


class Function(ABC):
    """What a plan can say to do with the values of an attribute. Parameters that make no sense are a `ValueError`.

    A masking function is a class of one of the kinds below, and a line in the registry; nothing else has to know it by
    name (`aegis_sdk.reading.function_words` has words for it, or else takes its name and parameters).

    Attributes:
        name: what the plan and the entry call it.
        file_keys: those of its parameters in the plan that name a file.
        keys_beside: what may stand in the plan beside its name and belongs to it.
        secret: who knows which masked value a value has could undo it, so the mapping is not published.
    """

    name: ClassVar[str]
    file_keys: ClassVar[tuple[str, ...]] = ()
    keys_beside: ClassVar[tuple[str, ...]] = ()
    secret: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def read(cls, parameters: Element) -> "Function":
        """The function with the parameters that the plan states.

        Raises:
            PlanError: something else than parameters of it; it names the place.
        """

    @abstractmethod
    def parameters(self) -> dict[str, object]:
        """What the published entry says of the function, as JSON values."""

    def describe(self) -> str:
        """What the values become, for people: as who reads the entry is told."""
        return in_words(self.name, self.parameters())


class MaskingFunction(Function):
    """A masking function `M`: gives every value of `Dom(A)` a masked value."""

    @abstractmethod
    def mask(self, domain: Domain) -> list[str]:
        """The masked text of each value.

        Raises:
            UnmaskableValueError: a value has none.
        """

    def mask_bins(self, domain: Domain, ends: tuple[Domain, Domain]) -> list[str]:
        """The masked text of each bin.

        Args:
            domain: the bins.
            ends: the least number of each bin, and one just below its upper end.

        Raises:
            UnmaskableValueError: a bin has no masked value, or the function would cut it.
        """
        del ends
        return self.mask(domain)


class NumberFunction(MaskingFunction):
    """A masking function of numbers: of a bin it has to mask both ends alike."""

    def mask_bins(self, domain: Domain, ends: tuple[Domain, Domain]) -> list[str]:
        """The masked text of the ends of each bin."""
        lowest, highest = map(self.mask, ends)
        for text, low, high in zip(domain.texts, lowest, highest, strict=True):
            if low != high:
                raise UnmaskableValueError(text, self._cut(low, high))
        return lowest

    def _cut(self, low: str, high: str) -> str:
        ends = " and ".join(repr(text) for text in (low, high) if len(text) < _LONGEST)
        return f"is a bin that {self.name} would cut: {ends} would share it; let its edges be edges of the bins"


class FittedFunction(Function):
    """A masking function that is known only once the values are counted."""

    @abstractmethod
    def fit(self, domain: Domain, histogram: IntArray) -> MaskingFunction:
        """The function for a table in which `histogram[i]` records have value `i` of the domain.

        Raises:
            UnmaskableValueError: as `MaskingFunction.mask` does.
        """


class RandomFunction(Function):
    """A masking that is left to chance: equal values may get different masked values."""

    @abstractmethod
    def draw(self, domain: Domain, counts: IntArray, random: np.random.Generator) -> Draw:
        """What becomes of the records: `counts` (values, labels) have each value and label.

        Raises:
            UnmaskableValueError: as `MaskingFunction.mask` does.
            ValueError: the domain is too large.
        """


def check_above_zero(name: str, number: Decimal) -> None:
    """A finite number above 0."""
    if not (number.is_finite() and number > 0):
        raise ValueError(f"`{name}` must be a number above 0, not {number}")


def check_finite(name: str, number: Decimal) -> None:
    """Any number but an infinite one."""
    if not number.is_finite():
        raise ValueError(f"`{name}` must be a finite number, not {number}")


def check_ascending(name: str, numbers: tuple[Decimal, ...]) -> None:
    """Numbers of which each is above the one before."""
    for lower, upper in pairwise(numbers):
        if lower.compare(upper) != -1:  # what is not a number is above nothing
            raise ValueError(f"{name} must ascend, but {upper} follows {lower}")


def check_level(level: int, levels: int) -> None:
    """A level that a hierarchy of so many has."""
    if not 1 <= level <= levels:
        raise ValueError(f"has levels 1 to {levels}, not {level}")


def check_character(character: str) -> None:
    """One character that can stand in a line of text."""
    if len(character) != 1 or character in "\r\n\0":
        raise ValueError(f"`character` must be one character, not {character!r}")
