"""How much generated records resemble real ones that the generator never saw."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check.estimates import weighted_auc
from aegis_provider.check.features import Feature
from aegis_provider.check.folds import Fold
from aegis_provider.check.result import CHANCE
from aegis_provider.generate.levels import Codes

_TWO: Final = 2


@dataclass(frozen=True)
class Quality:
    """How much generated records resemble real ones.

    Attributes:
        pair_total_variation: The mean over all pairs of columns of half the sum of absolute differences between the
            shares of their combinations; 0 if all are equal, at most 1.
        auc: The AUC, on real records, of boosted trees that were trained on generated ones to predict the label; with
            more than two values the mean of each against the rest, weighted by records. `None` if the real records
            have one label value.
    """

    pair_total_variation: float
    auc: float | None

    @property
    def score(self) -> float:
        """By which models are compared: the more, the better."""
        return (CHANCE if self.auc is None else self.auc) - self.pair_total_variation


def quality_of(generated: Codes, real: Codes, sizes: Sequence[int]) -> Quality:
    """Compare generated records with real ones, both as (records, columns) levels, the label in the last column."""
    return Quality(pair_total_variation(generated, real, sizes), predictive_auc(generated, real))


def pair_total_variation(one: Codes, other: Codes, sizes: Sequence[int]) -> float:
    """Return the mean total variation distance of the joint shares of all pairs of columns."""
    distances = [
        float(np.abs(_shares(one, pair, sizes) - _shares(other, pair, sizes)).sum()) / 2
        for pair in combinations(range(len(sizes)), 2)
    ]
    return float(np.mean(distances))


def _shares(codes: Codes, pair: tuple[int, int], sizes: Sequence[int]) -> NDArray[np.float64]:
    first, second = pair
    cells = codes[:, first] * sizes[second] + codes[:, second]
    return np.bincount(cells, minlength=sizes[first] * sizes[second]) / max(1, len(codes))


def predictive_auc(training: Codes, test: Codes) -> float | None:
    """Return the AUC on (records, columns) real records of boosted trees trained on others; see `Quality`."""
    from aegis_provider.check.models import predicted  # noqa: PLC0415 - an extra, and slow to load

    held, classes = np.unique(test[:, -1], return_inverse=True)
    if len(held) < _TWO:
        return None
    codes = np.concatenate([training, test])
    fold = Fold(np.arange(len(training)), np.arange(len(training), len(codes)))
    features = [Feature(str(place), column, None) for place, column in enumerate(codes[:, :-1].T)]
    probabilities = predicted("gradient boosting", features, codes[:, -1], fold.train, fold)
    return weighted_auc(probabilities[:, held], classes).value
