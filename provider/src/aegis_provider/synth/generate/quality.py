"""How much generated records resemble real ones that the generator never saw."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from aegis_provider.check.estimates import weighted_auc
from aegis_provider.check.features import Feature
from aegis_provider.check.folds import Fold
from aegis_provider.check.models import fitting_of
from aegis_provider.check.result import CHANCE
from aegis_provider.synth.fidelity.distances import Gaussian, pair_total_variation
from aegis_provider.synth.fidelity.encoding import MOST_CATEGORIES, Vectors, one_hot
from aegis_provider.synth.generate.levels import Codes, Levels

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
        frechet_distance: The Fréchet distance: of the means and covariances of the levels, where those of numbers are
            their standardised positions.
    """

    pair_total_variation: float
    auc: float | None
    frechet_distance: float

    @property
    def score(self) -> float:
        """By which models are compared: the more, the better."""
        return (CHANCE if self.auc is None else self.auc) - self.pair_total_variation


@dataclass(frozen=True, eq=False)
class Yardstick:
    """Real records that generated ones are compared with, again and again.

    Attributes:
        real: (records, columns) Their levels, the label in the last column.
        sizes: (columns,) The number of levels of each.
    """

    real: Codes
    sizes: Sequence[int]
    _encoder: "_Encoder"
    _gaussian: Gaussian

    @classmethod
    def of(cls, real: Codes, levels: Sequence[Levels]) -> Self:
        """Return the yardstick of some real records."""
        encoder = _Encoder.of(real, levels)
        return cls(real, [each.size for each in levels], encoder, Gaussian.of(encoder.vectors(real)))

    def quality(self, generated: Codes) -> Quality:
        """Compare generated records with the real ones, both as (records, columns) levels."""
        frechet = Gaussian.of(self._encoder.vectors(generated)).frechet_distance(self._gaussian)
        variation = pair_total_variation(generated, self.real, self.sizes)
        return Quality(variation, predictive_auc(generated, self.real), frechet)


@dataclass(frozen=True, eq=False)
class _Encoder:
    """Turns levels into vectors.

    Attributes:
        values: By column, the vector of each level (levels, width).
    """

    values: tuple[Vectors, ...]

    @classmethod
    def of(cls, real: Codes, levels: Sequence[Levels]) -> Self:
        return cls(tuple(_vectors(one, codes) for one, codes in zip(levels, real.T, strict=True)))

    def vectors(self, codes: Codes) -> Vectors:
        """(records, width) Return the vector of each record."""
        return np.concatenate([each[column] for each, column in zip(self.values, codes.T, strict=True)], axis=1)


def _vectors(levels: Levels, codes: Codes) -> Vectors:
    """(levels, width) Return standardised positions with an indicator for missing, or indicators of the frequent."""
    if levels.positions is not None:
        real = levels.positions[codes]
        missing = np.arange(levels.size) == (-1 if levels.missing is None else levels.missing)
        return np.stack([(levels.positions - real.mean()) / (real.std() or 1.0), missing], axis=1)
    ranks = np.argsort(np.argsort(-np.bincount(codes, minlength=levels.size), kind="stable"))
    return one_hot(ranks.clip(max=MOST_CATEGORIES)[:, None], [min(levels.size, MOST_CATEGORIES + 1)])


def predictive_auc(training: Codes, test: Codes) -> float | None:
    """Return the AUC on (records, columns) real records of boosted trees trained on others; see `Quality`."""
    held, classes = np.unique(test[:, -1], return_inverse=True)
    if len(held) < _TWO:
        return None
    codes = np.concatenate([training, test])
    fold = Fold(np.arange(len(training)), np.arange(len(training), len(codes)))
    features = [Feature(str(place), column, None) for place, column in enumerate(codes[:, :-1].T)]
    probabilities = fitting_of("gradient boosting", features, codes[:, -1], fold.train, fold).probabilities()
    return weighted_auc(probabilities[:, held], classes).value
