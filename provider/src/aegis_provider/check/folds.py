"""Folds of the records, and their classes."""

from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.classifiers import stratified
from aegis_provider.processes import results

Labels: TypeAlias = NDArray[np.intp]
"""(records,) The class of each record, from 0."""


@dataclass(frozen=True, eq=False)
class Fold:
    """The records to train on and those to test on, as ascending indices."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def folds_of(labels: Labels, count: int, seed: int) -> list[Fold]:
    """Split the records at random, with about the same share of each class in every fold; each has `count` records."""
    [split] = results([partial(stratified, labels, count, seed)], len(labels))
    return [Fold(train, test) for train, test in split]
