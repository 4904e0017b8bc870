"""What all masking functions share."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from aegis_provider.masking.draw import Draw, IntArray
from aegis_provider.table.values import Domain


class Function(ABC):
    """What a plan can say to do with the values of an attribute. Parameters that make no sense are a `ValueError`."""

    name: ClassVar[str]

    @abstractmethod
    def parameters(self) -> dict[str, object]:
        """What the published entry says of the function, as JSON values."""

    @abstractmethod
    def describe(self) -> str:
        """What it does, for people: the rest of a sentence that begins with "the values become ..."."""


class MaskingFunction(Function):
    """A masking function `M`: gives every value of `Dom(A)` a masked value.

    `secret`: who knows which masked value a value has could undo it, so the mapping is not published.
    """

    secret: ClassVar[bool] = False

    @abstractmethod
    def mask(self, domain: Domain) -> list[str]:
        """The masked text of each value.

        Raises `UnmaskableValueError` for a value that has none.
        """


class FittedFunction(Function):
    """A masking function that is known only once the values are counted."""

    @abstractmethod
    def fit(self, domain: Domain, histogram: IntArray) -> MaskingFunction:
        """The function for a table in which `histogram[i]` records have value `i` of the domain.

        Raises `UnmaskableValueError` as `mask` does.
        """


class RandomFunction(Function):
    """A masking that is left to chance: equal values may get different masked values."""

    @abstractmethod
    def draw(self, domain: Domain, counts: IntArray, random: np.random.Generator) -> Draw:
        """What becomes of the records: `counts` (values, labels) have each value and label.

        Raises `UnmaskableValueError` as `MaskingFunction.mask` does, and `ValueError` for a domain that is too large.
        """
