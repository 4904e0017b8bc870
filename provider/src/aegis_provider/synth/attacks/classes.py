"""The values of an attribute in few classes, so that an attacker can guess them and be right or wrong."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.records import Column
from aegis_provider.synth.released.released import positions_of

MOST: Final = 20
"""An attribute with more values is cut into classes."""

_PARTS: Final = 5


def classes_of(column: Column) -> tuple[NDArray[np.intp], int]:
    """(values,) Return the class of each value, and the number of classes.

    With few values, each is a class. Of more numbers, each fifth of the records is one, and missing numbers are one. Of
    more categories, the most frequent ones are one each, and the others are one together.
    """
    size = len(column.domain)
    if size <= MOST:
        return np.arange(size), size
    if column.numbers is None:
        classes = np.full(size, MOST - 1, dtype=np.intp)
        classes[np.argsort(-column.counts, kind="stable")[: MOST - 1]] = np.arange(MOST - 1)
        return classes, MOST
    positions = positions_of(column)
    parts = np.minimum((np.nan_to_num(positions) * _PARTS).astype(np.intp), _PARTS - 1)
    return np.where(np.isnan(positions), _PARTS, parts), _PARTS + 1
