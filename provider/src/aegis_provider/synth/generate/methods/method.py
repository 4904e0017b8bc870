"""What a method of generation is given, and what it returns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from aegis_provider.errors import TableError
from aegis_provider.records import Column
from aegis_provider.synth.generate.levels import Codes, Levels
from aegis_provider.table.values import ValueType

DELTA: Final = 1e-9
"""The usual delta. It does not follow from the number of records, which one more record would change."""


@dataclass(frozen=True)
class Knobs:
    """What the user asks of a method; each method uses those that it has.

    Attributes:
        privacy: How much nearness to real records costs; lambda_p of the paper.
        value: How much nearness to real records in the attributes that matter is rewarded; lambda_u of the paper.
        epsilon: The budget of differential privacy; `None` for no guarantee.
        delta: The probability with which the guarantee may fail; by default `DELTA`.
    """

    privacy: float = 0.0
    value: float = 0.0
    epsilon: float | None = None
    delta: float | None = None


@dataclass(frozen=True, eq=False)
class Task:
    """What to learn.

    Attributes:
        levels: The levels of each attribute and, last, of the label.
        codes: (records, columns) The levels of the training records.
        quasi_identifiers: (columns,) Whether someone may know the column of a person.
        privacy_weights: (columns,) In [0, 1]: how much the column counts in the distance for privacy.
        importance: (columns,) In [0, 1]: how much it counts in the distance for value.
        knobs: What the user asks for.
    """

    levels: Sequence[Levels]
    codes: Codes
    quasi_identifiers: NDArray[np.bool_]
    privacy_weights: NDArray[np.float64]
    importance: NDArray[np.float64]
    knobs: Knobs = field(default_factory=Knobs)

    @property
    def costs(self) -> NDArray[np.float64]:
        """(columns,) The privacy knob times the weight of each quasi-identifier; 0 for other columns."""
        return self.knobs.privacy * self.privacy_weights * self.quasi_identifiers

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of levels of each column."""
        return tuple(level.size for level in self.levels)


class DivergedError(TableError):
    """The training of a model ended with weights that are no numbers."""

    def __init__(self, iterations: int, losses: Mapping[str, float]) -> None:
        last = ", ".join(f"{name} {value:g}" for name, value in losses.items())
        super().__init__(
            f"the training diverged within {iterations:,} iterations (losses: {last}); ask for less privacy or value, "
            "or choose another method"
        )
        self.iterations = iterations


class Model(Protocol):
    """What has been learnt."""

    @property
    def losses(self) -> Mapping[str, float]:
        """The losses of the training by their names; empty if it has none."""
        ...

    def sample(self, records: int, rng: np.random.Generator) -> Codes:
        """(records, columns) Return the levels of new records."""
        ...

    def state(self) -> Mapping[str, Any]:
        """Return arrays by their names, from which the training goes on; empty if it ends with this model."""
        ...


class Method(Protocol):
    """A way to learn from records and to make new ones.

    Attributes:
        heeds: The names of the knobs that change what it does; others must not be asked of it.
    """

    heeds: ClassVar[frozenset[str]]

    def guarantee(self, knobs: Knobs) -> tuple[float, float] | None:
        """Return the (epsilon, delta) that the method guarantees; `None` if it guarantees nothing.

        Raises:
            PlanError: What is asked for cannot be guaranteed.
        """
        ...

    def train(self, task: Task, rng: np.random.Generator, state: Mapping[str, Any] | None = None) -> Iterator[Model]:
        """Yield ever better models, the only one, or one after every few steps; whoever iterates decides when to stop.

        Args:
            task: What to learn.
            rng: The source of all randomness.
            state: The state of an earlier model of the same task, to go on from.

        Raises:
            TableError: The task cannot be learnt by this method.
        """
        ...


@dataclass(frozen=True, eq=False)
class Noticed:
    """What is known of records before they are learnt from, found out with differential privacy.

    Attributes:
        levels: The levels of each attribute and, last, of the label.
        labels: The texts of the label's levels; empty for a level that stands for all others.
        records: About how many records there are, at least 1.
    """

    levels: Sequence[Levels]
    labels: Sequence[str]
    records: int


@runtime_checkable
class Private(Protocol):
    """A method whose guarantee covers the levels and the number of records, too.

    Attributes:
        steps: The share of the budget that each step spends which looks at records.
    """

    steps: Mapping[str, float]

    def noticed(self, columns: Sequence[Column], types: Sequence[ValueType | None], knobs: Knobs) -> Noticed:
        """Return what one may know of records.

        Args:
            columns: The columns to learn, each value as it is written; the label is the last.
            types: The types of the attributes by the plan, and `None` for the label.
            knobs: What the user asks for, with an epsilon.

        Raises:
            TableError: Too little of a column stands out from the noise.
        """
        ...


@runtime_checkable
class Resumable(Protocol):
    """A method of many models, which can be made again from their states.

    Attributes:
        stride: One in so many models is looked at, and the first.
    """

    stride: int

    def restored(self, task: Task, state: Mapping[str, Any]) -> Model:
        """Return the model of the same task that had this state."""
        ...
