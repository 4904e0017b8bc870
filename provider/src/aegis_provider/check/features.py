"""Columns of a table as models read them: places in an order, and numbers where the values are numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Places
from aegis_provider.table.values import MISSING, Domain, ValueType, infer_type

_NUMERIC: Final = (ValueType.INTEGER, ValueType.NUMBER)


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


def numbers_of(domain: Domain) -> NDArray[np.float64] | None:
    """(values,) The numbers of a domain, dates as days; `None` if its values are not all numbers or dates."""
    if domain.value_type == ValueType.DATE:
        return _numbers([None if key is None else key.toordinal() for key in domain.keys])
    return _numbers(domain.keys) if domain.value_type in _NUMERIC else None


def masked_numbers(texts: Sequence[str], original: Domain) -> NDArray[np.float64] | None:
    """(masked values,) The same for masked values, which are numbers only if the values that they mask are, too."""
    if original.value_type not in _NUMERIC or infer_type(texts) not in _NUMERIC:
        return None
    return _numbers([None if text == MISSING else text for text in texts])


def _numbers(keys: Sequence[Any]) -> NDArray[np.float64]:
    return np.array(keys, dtype=np.float64)
