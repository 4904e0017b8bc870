"""Sequential trees with large leaves, and a label drawn as boosted trees predict it from all attributes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

import numpy as np
from threadpoolctl import threadpool_limits

from aegis_provider.classifiers import boosted_trees
from aegis_provider.synth.generate.levels import Codes
from aegis_provider.synth.generate.methods.method import Task
from aegis_provider.synth.generate.methods.sequential import Grown, Predictors, SequentialMethod, Step

LEAVES: Final = (200, 1_000)
"""A leaf has at least a tenth of the training records, within these limits, before any knob is turned."""

_SHARE: Final = 0.1

_IN_A_BOOSTED_LEAF: Final = 20


class Trees(SequentialMethod):
    """Trees that tell what is true of many, for attributes, and boosted trees for the label.

    A release is worth what its attributes tell about the label, and gives persons away by what attributes tell about
    each other. So the attributes are drawn one after the other by trees whose leaves are large. The label comes last,
    as boosted trees predict it from all attributes: their many small corrections follow no single record. The privacy
    knob enlarges the leaves of each quasi-identifier by its weight, up to no tree at all, and those of the boosted
    trees; the value knob makes the leaves of attributes smaller by their importance.

    There is no guarantee.
    """

    heeds: ClassVar[frozenset[str]] = frozenset({"privacy", "value"})

    def steps(self, task: Task, rng: np.random.Generator) -> Sequence[Step]:
        """Return the steps of the attributes, then the label's."""
        label, leaves = len(task.levels) - 1, leaves_of(task)
        attributes = range(label)
        grown = [Grown.of(task, attributes[:place], place, leaves[place], rng) for place in attributes]
        can_be_predicted = label > 0 and len(np.unique(task.codes[:, label])) > 1
        return [*grown, _Boosted.of(task, label, rng) if can_be_predicted else Grown.of(task, (), label, 1, rng)]


def leaves_of(task: Task) -> list[int]:
    """(columns,) The fewest training records in the leaves of each column's tree; as many as there are for no tree."""
    usual = np.clip(_SHARE * len(task.codes), *LEAVES)
    sizes = usual * (1 + task.costs) / (1 + task.knobs.value * task.importance)
    return [int(each) for each in np.clip(np.ceil(sizes), _IN_A_BOOSTED_LEAF, max(len(task.codes), 1))]


@dataclass(frozen=True, eq=False)
class _Boosted:
    """The label, drawn as boosted trees predict it from all attributes.

    Attributes:
        column: The label.
        predictors: What they read.
        classifier: The trees.
    """

    column: int
    predictors: Predictors
    classifier: Any

    @classmethod
    def of(cls, task: Task, label: int, rng: np.random.Generator) -> Self:
        """Fit the trees."""
        predictors = Predictors.of(task, range(label), label, rng)
        in_a_leaf = int(np.ceil(_IN_A_BOOSTED_LEAF * (1 + task.knobs.privacy)))
        classifier = boosted_trees(in_a_leaf, int(rng.integers(2**31)))
        with threadpool_limits(1):
            classifier.fit(predictors.features(task.codes), task.codes[:, label])
        return cls(label, predictors, classifier)

    def drawn(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """(records,) Return a level for each record, drawn by the predicted probabilities."""
        with threadpool_limits(1):
            shares = self.classifier.predict_proba(self.predictors.features(codes)).cumsum(axis=1)
        chosen = (rng.random(len(codes))[:, None] * shares[:, -1:] >= shares).sum(axis=1)
        return np.asarray(self.classifier.classes_[np.minimum(chosen, len(self.classifier.classes_) - 1)])
