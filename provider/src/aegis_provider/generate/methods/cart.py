"""Sequential trees with small leaves, as statistics offices use them."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

import numpy as np

from aegis_provider.errors import TableError
from aegis_provider.generate.methods.method import Model, Task
from aegis_provider.generate.methods.sequential import Grown, Sequential

FEWEST: Final = 5
"""Each leaf has at least this many training records."""


class Cart:
    """Classification and regression trees, one column after the other.

    The label comes first, then the attributes in their order. A tree predicts each column from those before it; a new
    record is put into a leaf by what it has so far, and gets the level of a random training record of that leaf
    (Reiter 2005, "Using CART to generate partially synthetic public use microdata"; Nowok, Raab and Dibben 2016,
    "synthpop: Bespoke creation of synthetic data in R"), with all columns synthetic and without smoothing.

    There is no guarantee. A leaf of 5 records gives away much of them: on 10,000 records of the health insurance study,
    an attacker told members from others with an AUC of 0.59 by the nearest generated record. It heeds no knob.
    """

    heeds: ClassVar[frozenset[str]] = frozenset()

    def guarantee(self, task: Task) -> tuple[float, float] | None:  # noqa: ARG002 - the signature of every method
        """Return `None`."""
        return None

    def train(
        self,
        task: Task,
        rng: np.random.Generator,
        state: Mapping[str, Any] | None = None,  # noqa: ARG002 - training is one step, so there is nothing to go on from
    ) -> Iterator[Model]:
        """Yield the only model.

        Raises:
            TableError: There are no records.
        """
        if not len(task.codes):
            raise TableError("there are no records to learn from")
        label = len(task.levels) - 1
        order = (label, *range(label))
        yield Sequential([Grown.of(task, order[:place], each, FEWEST, rng) for place, each in enumerate(order)])
