"""The method `mbi`: records from a tree of pair marginals, with or without differential privacy."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, ClassVar, Final

import numpy as np

from aegis_provider.errors import PlanError, TableError
from aegis_provider.records import Column
from aegis_provider.synth.generate.methods.conditional import Conditional
from aegis_provider.synth.generate.methods.marginals.budget import STEPS, Budget, noisy
from aegis_provider.synth.generate.methods.marginals.levels import private_levels
from aegis_provider.synth.generate.methods.marginals.mst import private_tree
from aegis_provider.synth.generate.methods.marginals.tree import (
    Pair,
    TreeModel,
    mutual_information,
    outward,
    spanning_tree,
)
from aegis_provider.synth.generate.methods.method import DELTA, Knobs, Model, Noticed, Task
from aegis_provider.table.values import ValueType

_EPSILONS: Final = (1e-6, 1e6)
"""The smallest and the largest epsilon, as for noise on the counts of an entry."""


class Marginals:
    """Marginals on a tree of pairs.

    Without epsilon: the tree of the pairs with the most mutual information, and their exact counts (Chow and Liu 1968,
    "Approximating discrete probability distributions with dependence trees"). Drawn records have nearly the same counts
    of these pairs, so a pair of levels of only one record is generated, too. There is no guarantee.

    With epsilon: MST (McKenna, Miklau and Sheldon 2021, "Winning the NIST contest") with the estimation of
    Private-PGM. See `mst.py`. Its noise comes from the operating system's cryptographic source, not from `rng`, since
    an attacker who knows the seed could subtract seeded noise. So two trainings with one seed differ.

    The privacy knob reduces the weight of pairs of two quasi-identifiers by the smaller of their weights, so that the
    tree prefers to link them to the label. The value knob increases the weight of pairs with the label by the
    importance of the other. With epsilon only the former is possible, since importance depends on the records.
    """

    heeds: ClassVar[frozenset[str]] = frozenset({"epsilon", "delta", "privacy", "value"})
    steps: Mapping[str, float] = STEPS

    def guarantee(self, knobs: Knobs) -> tuple[float, float] | None:
        """Return epsilon and delta; `None` without epsilon.
        For two tables that differ by one record, the results of `noticed` and `train` together, and records drawn from
        the model, are (epsilon, delta)-indistinguishable: they use only noisy counts and noisy choices. A second
        training spends the budget again.

        Raises:
            PlanError: Epsilon or delta is out of range, or the value knob is used, too.
        """
        if knobs.epsilon is None:
            return None
        if knobs.value:
            raise PlanError("importance depends on the records, so epsilon cannot cover value; omit one of them")
        least, most = _EPSILONS
        delta = DELTA if knobs.delta is None else knobs.delta
        if not least <= knobs.epsilon <= most:
            raise PlanError(f"epsilon is {knobs.epsilon:g}; choose a number from {least:g} to {most:g}")
        if not 0 < delta < 1:
            raise PlanError(
                f"delta is {delta:g}; choose a number between 0 and 1, less than 1 over the number of records"
            )
        return knobs.epsilon, delta

    def noticed(self, columns: Sequence[Column], types: Sequence[ValueType | None], knobs: Knobs) -> Noticed:
        """Return noisy levels and a noisy number of records; see `levels.py`.

        Raises:
            TableError: A column has no value that stands out from the noise, or the label fewer than two.
            PlanError: As for `guarantee`.
        """
        guarantee = self.guarantee(knobs)
        if guarantee is None:
            raise ValueError("without epsilon, there is no noise")
        budget = Budget.of(*guarantee)
        records = noisy(np.array([len(columns[-1].places)]), math.sqrt(1 / (2 * budget.records)))
        levels, labels = private_levels(columns, types, budget.levels, budget.rare)
        return Noticed(levels, labels, max(1, int(records[0])))

    def train(
        self,
        task: Task,
        rng: np.random.Generator,  # noqa: ARG002 - exact counts need no randomness, and noise must not be reproducible
        state: Mapping[str, Any] | None = None,  # noqa: ARG002 - training is one step, so nothing can be resumed
    ) -> Iterator[Model]:
        """Yield the only model.

        Raises:
            TableError: There are no records, and no epsilon.
            PlanError: As for `guarantee`.
        """
        guarantee = self.guarantee(task.knobs)
        if guarantee is not None:
            yield private_tree(task.codes, task.levels, Budget.of(*guarantee).tree, partial(_share, task))
        elif len(task.codes):
            yield _exact_tree(task)
        else:
            raise TableError("there are no records to learn from")


def _share(task: Task, pair: Pair) -> float:
    """Return the weight, in (0, 1], of a pair: less for two quasi-identifiers."""
    return float(1 / (1 + task.costs[list(pair)].min()))


def _worth(task: Task, pair: Pair) -> float:
    """Return the same weight, increased for an important attribute with the label."""
    near, label = pair[0], len(task.levels) - 1
    gain = task.knobs.value * task.importance[near] if pair[1] == label else 0.0
    return float(_share(task, pair) * (1 + gain))


def _exact_tree(task: Task) -> TreeModel:
    codes, root = task.codes, len(task.levels) - 1
    information = {
        pair: mutual_information(codes[:, pair[0]], codes[:, pair[1]]) * _worth(task, pair)
        for pair in combinations(range(root + 1), 2)
    }

    def chosen(candidates: Sequence[Pair]) -> Pair:
        return max(candidates, key=information.__getitem__)

    steps = [
        (near, far, Conditional.of_records(codes[:, near], codes[:, far], task.levels[near].size))
        for near, far in outward(spanning_tree(root + 1, chosen), root)
    ]
    first = Conditional.of_records(np.zeros(len(codes), dtype=np.intp), codes[:, root], 1)
    return TreeModel(root, first, steps)
