"""What a release is worth and how faithful it is, beside what is possible and what chance gives."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check import Interval
from aegis_provider.synth.released import NotUnderstood


class Relation(StrEnum):
    """What the tested records are to the release."""

    UNSEEN = "unseen"
    """They were held out."""
    TAKEN_OUT = "taken out"
    """Their rows were taken out of the release, each row of which masks a record."""
    RELEASED = "released"
    """The release was made of them, and it is not known which rows are theirs."""


@dataclass(frozen=True)
class Compared:
    """A measure of the release.

    Attributes:
        released: Of released records.
        real: Of other real records: what is possible.
        shuffled: Of released records whose columns are shuffled: what chance gives.
    """

    released: float
    real: float
    shuffled: float


@dataclass(frozen=True)
class ModelValue:
    """How well a model predicts the label of real records, trained on the release and on as many real records.

    Attributes:
        model: The name of the model.
        auc: The AUC, trained on the release.
        real_auc: The AUC, trained on real records.
        auc_difference: The first less the second.
        accuracy: The accuracy, trained on the release.
        real_accuracy: The accuracy, trained on real records.
        accuracy_difference: The first less the second.
        kept: The share of the real AUC above chance that is left; `None` if that is not certainly above chance.
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
class Association:
    """How strongly two columns are associated among real, released and other real records."""

    first: str
    second: str
    real: float
    released: float
    other: float

    @property
    def difference(self) -> float:
        """How far the release is off."""
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
        label: The label.
        models: What models are worth that are trained on the release.
        guessed: The accuracy of always guessing the most frequent label value.
        tested: How many real records the models are tested on.
        tested_on: What these are to the release.
        found: The share of these that the release shows exactly.
        found_by_chance: The same for the release with each column in an order of its own.
        trained: On how many released records the models are trained.
        trained_on_real: On how many real records they are trained in comparison.
        compared: How many records of each kind all other measures compare.
        clusters: The number of clusters; `None` if the records have none.
        agreement: The adjusted Rand index; `None` if there are no clusters.
        associations: Each two columns.
        mean_difference: The mean difference of associations.
        largest_difference: The largest one.
        pair_total_variation: The mean total variation distance of all pairs of columns.
        frechet_distance: The Fréchet distance.
        embedding: Points in two dimensions, if asked for.
        released: How many records the release has.
        of_records: How many records the table has.
        drawn: How many of these were read, drawn at random; all of a small table.
        lacking: The columns of the table or the plan that the release lacks.
        not_understood: By column, what is taken to tell nothing.
        is_masked: Whether some released values stand for several.
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
    associations: tuple[Association, ...]
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

    @property
    def not_judged(self) -> Mapping[str, NotUnderstood]:
        """By column, what is not understood, of those where it is too much to say what the release keeps."""
        return {name: each for name, each in self.not_understood.items() if each.is_too_much}

    @property
    def best(self) -> ModelValue:
        """The model that predicts best when it is trained on real records."""
        return max(self.models, key=lambda each: each.real_auc.value)
