"""The utility and fidelity of a release, compared with the attainable optimum and with chance."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check import Interval
from aegis_provider.classifiers import AUC
from aegis_provider.synth.released.released import NotUnderstood


class Relation(StrEnum):
    """The relation of the test records to the release."""

    UNSEEN = "unseen"
    """Held out from it."""
    TAKEN_OUT = "taken out"
    """Their rows were removed from the release, whose rows mask one record each."""
    RELEASED = "released"
    """The release was made from them, and their rows cannot be identified."""


@dataclass(frozen=True)
class Compared:
    """A measure of the release.

    Attributes:
        real: For other real records, the attainable optimum.
        shuffled: For released records with shuffled columns, the result of chance.
    """

    released: float
    real: float
    shuffled: float


@dataclass(frozen=True)
class ModelValue:
    """How well a model predicts the label of real records, trained on the release and on equally many real records.

    Attributes:
        auc: Of a label that is a number, `R^2` of its bins' scores.
        accuracy: Of a number, the root of the mean squared error, in its unit.
        kept: The AUC above chance as a share of the real one; `None` if the real one is not significantly above chance.
    """

    model: str
    auc: Interval
    real_auc: Interval
    auc_difference: Interval
    accuracy: Interval
    real_accuracy: Interval
    accuracy_difference: Interval
    kept: Interval | None


@dataclass(frozen=True)
class ColumnAssociation:
    """The association of two columns among real, released and other real records."""

    first: str
    second: str
    real: float
    released: float
    other: float

    @property
    def difference(self) -> float:
        """The error of the release."""
        return abs(self.released - self.real)


@dataclass(frozen=True, eq=False)
class Embedding:
    """(records, 2) Points of real and of released records, where near records are near."""

    real: NDArray[np.float64]
    released: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fidelity:
    """The result of `fidelity`.

    Attributes:
        guessed: The accuracy of always guessing the most frequent label value; of a number, the error of its mean.
        found: The share of test records that the release shows exactly.
        found_by_chance: The same for the release with shuffled columns.
        compared: The number of records of each kind in all other measures.
        agreement: The adjusted Rand index; `None` if there are no clusters.
        drawn: The number of the table's records that were read, drawn at random; all of a small table.
        lacking: The columns of the table or the plan that the release lacks.
        is_masked: Whether some released values stand for several.
        scale: What models are measured in: `AUC`, or `R2` of a label that is a number.
    """

    label: str
    models: tuple[ModelValue, ...]
    guessed: float
    tested: int
    tested_on: Relation
    found: float
    found_by_chance: float
    trained: int
    trained_on_real: int
    compared: int
    clusters: int | None
    agreement: Compared | None
    associations: tuple[ColumnAssociation, ...]
    mean_difference: Compared
    largest_difference: Compared
    pair_total_variation: Compared
    frechet_distance: Compared
    embedding: Embedding | None
    released: int
    of_records: int
    drawn: int
    lacking: tuple[str, ...]
    not_understood: Mapping[str, NotUnderstood]
    is_masked: bool
    scale: str = AUC

    @property
    def not_judged(self) -> Mapping[str, NotUnderstood]:
        """The columns with too many values that are not understood to judge the release."""
        return {name: each for name, each in self.not_understood.items() if each.is_too_much}

    @property
    def best(self) -> ModelValue:
        """The model that predicts best when it is trained on real records."""
        return max(self.models, key=lambda each: each.real_auc.value)
