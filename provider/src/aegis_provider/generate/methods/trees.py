"""Sequential trees with large leaves, and a label drawn as boosted trees predict it from all attributes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from aegis_provider.errors import TableError
from aegis_provider.generate.levels import Codes
from aegis_provider.generate.methods.method import Model, Task
from aegis_provider.generate.methods.sequential import Grown, Sequential, features_of, scores_of

LEAVES: Final = (200, 1_000)
"""A leaf has at least a tenth of the training records, within these limits, before any knob is turned."""

_SHARE: Final = 0.1

_IN_A_BOOSTED_LEAF: Final = 20
_TREES: Final = 60
_LEAF_NODES: Final = 15


class Trees:
    """Trees that tell what is true of many, for attributes, and boosted trees for the label.

    A release is worth what its attributes tell about the label, and gives persons away by what attributes tell about
    each other. So the attributes are drawn one after the other by trees whose leaves are large. The label comes last,
    as boosted trees predict it from all attributes: their many small corrections follow no single record. The privacy
    knob enlarges the leaves of each quasi-identifier by its weight, up to no tree at all, and those of the boosted
    trees; the value knob makes the leaves of attributes smaller by their importance.

    There is no guarantee.
    """

    heeds: ClassVar[frozenset[str]] = frozenset({"privacy", "value"})

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
        label, leaves = len(task.levels) - 1, leaves_of(task)
        attributes = range(label)
        grown = [Grown.of(task, attributes[:place], place, leaves[place], rng) for place in attributes]
        can_be_predicted = label > 0 and len(np.unique(task.codes[:, label])) > 1
        last = _Boosted.of(task, attributes, label, rng) if can_be_predicted else Grown.of(task, (), label, 1, rng)
        yield Sequential([*grown, last])


def leaves_of(task: Task) -> list[int]:
    """(columns,) The fewest training records in the leaves of each column's tree; as many as there are for no tree."""
    knobs = task.knobs
    weights = task.privacy_weights * task.quasi_identifiers
    usual = np.clip(_SHARE * len(task.codes), *LEAVES)
    sizes = usual * (1 + knobs.privacy * weights) / (1 + knobs.value * task.importance)
    return [int(each) for each in np.clip(np.ceil(sizes), _IN_A_BOOSTED_LEAF, max(len(task.codes), 1))]


@dataclass(frozen=True, eq=False)
class _Boosted:
    """A column drawn as boosted trees predict it.

    Attributes:
        column: The column.
        before: The columns that it is predicted from.
        scores: For each of these, the number that each level has in the trees.
        classifier: The trees.
    """

    column: int
    before: Sequence[int]
    scores: Sequence[NDArray[np.float32]]
    classifier: Any

    @classmethod
    def of(cls, task: Task, before: Sequence[int], column: int, rng: np.random.Generator) -> Self:
        """Fit the trees."""
        scores = scores_of(task, before, column, rng)
        classifier = HistGradientBoostingClassifier(
            max_iter=_TREES,
            max_leaf_nodes=_LEAF_NODES,
            min_samples_leaf=int(np.ceil(_IN_A_BOOSTED_LEAF * (1 + task.knobs.privacy))),
            early_stopping=False,
            random_state=int(rng.integers(2**31)),
        )
        with threadpool_limits(1):
            classifier.fit(features_of(task.codes, before, scores), task.codes[:, column])
        return cls(column, before, scores, classifier)

    def drawn(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """(records,) Return a level for each record, drawn by the predicted probabilities."""
        with threadpool_limits(1):
            shares = self.classifier.predict_proba(features_of(codes, self.before, self.scores)).cumsum(axis=1)
        chosen = (rng.random(len(codes))[:, None] * shares[:, -1:] >= shares).sum(axis=1)
        return np.asarray(self.classifier.classes_[np.minimum(chosen, len(self.classifier.classes_) - 1)])
