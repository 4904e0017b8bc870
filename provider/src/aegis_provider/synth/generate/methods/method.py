"""The interface of methods of generation."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from aegis_provider.errors import PlanError, TableError
from aegis_provider.records import Column
from aegis_provider.synth.generate.levels import Codes, Levels
from aegis_provider.table.values import ValueType

DELTA: Final = 1e-9
"""The default delta. It must not depend on the number of records, which is private."""

_LEAST_LOG_DELTA: Final = -690.0
"""Below, a delta is nearly 0 as a float."""


@dataclass(frozen=True)
class Knobs:
    """The parameters of methods; each method supports some of them.

    Attributes:
        privacy: The penalty on nearness to real records; lambda_p of the paper.
        value: The reward for nearness to real records in important attributes; lambda_u of the paper.
        delta: The failure probability of the guarantee; by default `DELTA`.
    """

    privacy: float = 0.0
    value: float = 0.0
    epsilon: float | None = None
    delta: float | None = None


def knobs_of_records(knobs: Knobs, guarantee: tuple[float, float], rows: int) -> Knobs:
    """Return the knobs that guarantee as much for a person with at most `rows` records.

    What is (e, d)-differentially private for a record is (r e, d (1 + exp(e) + ... + exp((r - 1) e))) for r records
    (group privacy: Vadhan 2017, "The complexity of differential privacy", lemma 2.2).

    Raises:
        PlanError: Epsilon is too large for so many records.
    """
    epsilon, each = guarantee[0], guarantee[0] / rows
    steps = [place * each for place in range(rows)]
    least = math.log(guarantee[1]) - steps[-1] - math.log(math.fsum(math.exp(step - steps[-1]) for step in steps))
    if least < _LEAST_LOG_DELTA:
        raise PlanError(f"epsilon is {epsilon:g}, too large for people with {rows} records; choose a smaller one")
    return replace(knobs, epsilon=each, delta=math.exp(least))


@dataclass(frozen=True, eq=False)
class LearningTask:
    """The learning task.

    Attributes:
        quasi_identifiers: (columns,) Whether an attacker may know the column.
        privacy_weights: (columns,) In [0, 1]: the weight of the column in the distance for privacy.
        importance: (columns,) In [0, 1]: its weight in the distance for value.
        supports: (levels, levels) Whether two levels may be drawn together, for two columns by their places, the
            earlier first; any may where nothing is stated.
        rows: The most records of a person, by which the fewest records of leaves are multiplied.
    """

    levels: Sequence[Levels]
    codes: Codes
    quasi_identifiers: NDArray[np.bool_]
    privacy_weights: NDArray[np.float64]
    importance: NDArray[np.float64]
    knobs: Knobs = field(default_factory=Knobs)
    supports: Mapping[tuple[int, int], NDArray[np.bool_]] = field(default_factory=dict)
    rows: int = 1

    @property
    def costs(self) -> NDArray[np.float64]:
        """(columns,) The privacy knob times the weight of each quasi-identifier; 0 for other columns."""
        return self.knobs.privacy * self.privacy_weights * self.quasi_identifiers

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of levels of each column."""
        return tuple(level.size for level in self.levels)


class DivergedError(TableError):
    """The training of a model ended with weights that are not numbers."""

    def __init__(self, iterations: int, losses: Mapping[str, float]) -> None:
        last = ", ".join(f"{name} {value:g}" for name, value in losses.items())
        super().__init__(
            f"the training diverged within {iterations:,} iterations (losses: {last}); request less privacy or value, "
            "or choose another method"
        )
        self.iterations = iterations


class Model(Protocol):
    """A trained model."""

    @property
    def losses(self) -> Mapping[str, float]:
        """The losses of the training by name; empty if it has no steps."""
        return {}

    def sample(self, records: int, rng: np.random.Generator) -> Codes:
        """(records, columns) Return the levels of new records."""
        ...

    def state(self) -> Mapping[str, Any]:
        """Return arrays by name from which training can resume; empty if it ends with this model."""
        return {}


class Method(Protocol):
    """A method that learns from records and generates new ones.

    Attributes:
        heeds: The names of the supported knobs; others must not be set.
    """

    heeds: ClassVar[frozenset[str]]

    def guarantee(self, knobs: Knobs) -> tuple[float, float] | None:  # noqa: ARG002 - most methods guarantee nothing
        """Return the (epsilon, delta) that the method guarantees; `None` if it guarantees nothing.

        Raises:
            PlanError: The guarantee is impossible with these knobs.
        """
        return None

    def train(
        self, task: LearningTask, rng: np.random.Generator, state: Mapping[str, Any] | None = None
    ) -> Iterator[Model]:
        """Yield successively better models, possibly only one; the caller decides when to stop.

        Args:
            state: The state of an earlier model of the same task, from which to resume.

        Raises:
            TableError: The method cannot learn this task.
        """
        ...


@dataclass(frozen=True, eq=False)
class Noticed:
    """Statistics of records before learning, computed with differential privacy.

    Attributes:
        levels: The levels of each attribute and, last, of the label.
        labels: The texts of the label's levels; empty for a level that stands for all others.
        records: The approximate number of records, at least 1.
    """

    levels: Sequence[Levels]
    labels: Sequence[str]
    records: int


@runtime_checkable
class Private(Protocol):
    """A method whose guarantee covers the levels and the number of records, too.

    Attributes:
        steps: The share of the budget of each step that looks at records.
    """

    steps: Mapping[str, float]

    def noticed(self, columns: Sequence[Column], types: Sequence[ValueType | None], knobs: Knobs) -> Noticed:
        """Return private statistics of the records.

        Args:
            columns: The columns to learn, each value as written; the label is the last.
            types: The types of the attributes in the plan, and `None` for the label.
            knobs: The parameters, with an epsilon.

        Raises:
            TableError: Too few values of a column stand out from the noise.
        """
        ...


@runtime_checkable
class Consistent(Protocol):
    """A method that draws no two levels together that the task's `supports` exclude.

    Attributes:
        fewest_together: Minimum training records with two values for these to be drawn together.
    """

    fewest_together: int


@runtime_checkable
class Resumable(Protocol):
    """A method that yields many models, which can be restored from their states.

    Attributes:
        stride: The interval between evaluated models; the first is always evaluated.
    """

    stride: int

    def restored(self, task: LearningTask, state: Mapping[str, Any]) -> Model:
        """Return the model of the same task with this state."""
        ...
