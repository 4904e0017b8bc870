"""Folds of the records, and their classes."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Labels: TypeAlias = NDArray[np.intp]
"""(records,) The class of each record, from 0."""


@dataclass(frozen=True, eq=False)
class Fold:
    """The records to train on and those to test on, as ascending indices."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]
