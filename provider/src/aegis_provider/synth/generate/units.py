"""Numbers and dates as whole numbers, so that any number between two others can be drawn and written like them."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from aegis_provider.records.column import NUMERIC, Column
from aegis_provider.table.values import ValueType

_MOST_DIGITS: Final = 18


@dataclass(frozen=True, eq=False)
class Units:
    """The values of an ordered attribute in units of its last decimal, or in days.

    Attributes:
        of_value: (values,) Each value in units; 0 where it is missing.
        is_missing: (values,) Whether the value is missing.
        decimals: How many decimals a number has; `None` if the units are days.
    """

    of_value: NDArray[np.int64]
    is_missing: NDArray[np.bool_]
    decimals: int | None

    @classmethod
    def of(cls, column: Column, fewest: int) -> Self | None:
        """Return the units of a column; `None` if its values are neither numbers nor dates.

        Numbers have as many decimals as those of at least `fewest` records, so that decimals tell of no rare number.
        """
        domain = column.domain
        is_missing = np.array([key is None for key in domain.keys], dtype=bool)
        if domain.value_type == ValueType.DATE:
            days = [0 if key is None else key.toordinal() for key in domain.keys]
            return cls(np.array(days, dtype=np.int64), is_missing, None)
        if domain.value_type not in NUMERIC:
            return None
        present = np.flatnonzero(~is_missing)
        decimals = _decimals([domain.keys[place] for place in present], column.counts[present], fewest)
        units = [0 if key is None else round(key.scaleb(decimals)) for key in domain.keys]
        return cls(np.array(units, dtype=np.int64), is_missing, decimals)

    def text(self, unit: int) -> str:
        """Return a number of units as the table writes it."""
        if self.decimals is None:
            return dt.date.fromordinal(unit).isoformat()
        return f"{Decimal(unit).scaleb(-self.decimals):f}"


def _decimals(numbers: Sequence[Decimal], counts: NDArray[np.int64], fewest: int) -> int:
    """Return the most decimals that the numbers of so many records have, or as many as fit into 18 digits."""
    decimals = np.array([-min(0, int(number.as_tuple().exponent)) for number in numbers], dtype=np.intp)
    order = np.argsort(-decimals, kind="stable")
    enough = np.flatnonzero(np.cumsum(counts[order]) >= fewest)
    usual = int(decimals[order[enough[0]]]) if len(enough) else 0
    largest = max((number.adjusted() + 1 for number in numbers if number), default=0)
    return min(usual, _MOST_DIGITS - largest)
