"""Columns of a table as models read them: places in an order, and numbers where the values are numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Places
from aegis_provider.records.column import NUMERIC, as_numbers
from aegis_provider.table.values import MISSING, Domain, infer_type


@dataclass(frozen=True, eq=False)
class Feature:
    """A column of a table.

    Attributes:
        name: The attribute.
        places: (records,) The place of each value in the order of the domain.
        numbers: (values,) The number of each value, NaN if it is missing; `None` if the values are categories.
    """

    name: str
    places: Places
    numbers: NDArray[np.float64] | None

    @property
    def distinct(self) -> int:
        """How many different values occur."""
        return len(np.unique(self.places))


def masked_numbers(texts: Sequence[str], original: Domain) -> NDArray[np.float64] | None:
    """(masked values,) The same for masked values, which are numbers only if the values that they mask are, too."""
    if original.value_type not in NUMERIC or infer_type(texts) not in NUMERIC:
        return None
    return as_numbers([None if text == MISSING else text for text in texts])
