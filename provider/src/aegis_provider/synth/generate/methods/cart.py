"""Sequential trees with small leaves, as statistics offices use them."""

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np

from aegis_provider.synth.generate.methods.method import Task
from aegis_provider.synth.generate.methods.sequential import Grown, SequentialMethod, Step

FEWEST: Final = 5
"""Each leaf has at least this many training records, before the privacy knob is turned."""


class Cart(SequentialMethod):
    """Classification and regression trees, one column after the other.

    The label comes first, then the attributes in their order. A tree predicts each column from those before it; a new
    record is put into a leaf by what it has so far, and gets the level of a random training record of that leaf
    (Reiter 2005, "Using CART to generate partially synthetic public use microdata"; Nowok, Raab and Dibben 2016,
    "synthpop: Bespoke creation of synthetic data in R"), with all columns synthetic and without smoothing.

    There is no guarantee. A leaf of 5 records gives away much of them: on 10,000 records of the health insurance study,
    an attacker told members from others with an AUC of 0.59 by the nearest generated record. The privacy knob enlarges
    the leaves of each quasi-identifier by its weight.
    """

    heeds: ClassVar[frozenset[str]] = frozenset({"privacy"})

    def steps(self, task: Task, rng: np.random.Generator) -> Sequence[Step]:
        """Return the label's step, then those of the attributes."""
        label = len(task.levels) - 1
        order = (label, *range(label))
        leaves = np.ceil(np.minimum(FEWEST * (1 + task.costs), max(FEWEST, len(task.codes)))).astype(int)
        return [Grown.of(task, order[:place], each, int(leaves[each]), rng) for place, each in enumerate(order)]
