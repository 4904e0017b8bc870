"""Draws columns one after the other, each from training records that a tree finds similar in the earlier columns."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from aegis_provider.classifiers import boosted_trees
from aegis_provider.errors import TableError
from aegis_provider.synth.generate.levels import Codes, Conditional
from aegis_provider.synth.generate.methods.method import LearningTask, Method, Model

_MOST_CLASSES: Final = 64
"""A category with more levels is predicted by its rank, since a tree compares all classes at every split."""

_STEPS: Final = 20
"""Steps of the power iteration, enough to approximate the first component; any order is valid."""


class _Tree(Protocol):
    def apply(self, features: NDArray[np.float32]) -> NDArray[np.int64]: ...


class Step(Protocol):
    """A step that draws a column."""

    @property
    def column(self) -> int:
        """The column."""
        ...

    def drawn(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """(records,) Return the levels of the column for records with known earlier columns."""
        ...


@dataclass(frozen=True, eq=False)
class Predictors:
    """The earlier columns, as features of trees.

    Attributes:
        scores: For each of these, a number per level, in an order that lets a tree split the levels well.
    """

    before: Sequence[int]
    scores: Sequence[NDArray[np.float32]]

    @classmethod
    def of(cls, task: LearningTask, before: Sequence[int], column: int, rng: np.random.Generator) -> Self:
        """Score the levels of the earlier columns for trees that predict this one."""
        return cls(before, [_scores(task, other, column, rng) for other in before])

    def features(self, codes: Codes) -> NDArray[np.float32]:
        """(records, earlier columns) Return the features."""
        both = zip(self.before, self.scores, strict=True)
        return np.stack([of_level[codes[:, other]] for other, of_level in both], axis=1)


@dataclass(frozen=True, eq=False)
class Grown:
    """A column drawn by a tree.

    Attributes:
        tree: Assigns records to leaves; `None` without earlier columns.
        leaves: The levels of the training records in each leaf.
    """

    column: int
    predictors: Predictors
    tree: _Tree | None
    leaves: Conditional

    @classmethod
    def of(cls, task: LearningTask, before: Sequence[int], column: int, fewest: int, rng: np.random.Generator) -> Self:
        """Grow the tree; each leaf has at least `fewest` training records."""
        predictors = Predictors.of(task, before, column, rng)
        tree = _tree(task, column, predictors.features(task.codes), fewest, rng) if before else None
        leaf = _leaf(tree, predictors, task.codes)
        leaves = Conditional.of_records(leaf, task.codes[:, column], int(leaf.max()) + 1)
        return cls(column, predictors, tree, leaves)

    def drawn(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """(records,) Return the level of a random training record in the leaf of each record."""
        return self.leaves.drawn(_leaf(self.tree, self.predictors, codes), rng.random(len(codes)))


_BATCH: Final = 1 << 22
"""Approximate number of cells of a batch of records."""

_FITTED_ON: Final = 5_000
_ROUNDS: Final = 20
_SCARCELY: Final = 1e-9
"""The weight of what a leaf lacks, so that something can be drawn if what it has is excluded."""


@dataclass(frozen=True, eq=False)
class Supported:
    """A column drawn by a tree among the levels that may be drawn together with those of earlier columns.

    Attributes:
        shares: (leaves, levels) The shares of the levels in each leaf.
        supports: For each earlier column that excludes something: (its levels, levels) whether both may be together.
        weights: (levels,) Factors of the shares, by which each level is drawn as often as in the training records.
    """

    grown: Grown
    shares: NDArray[np.float64]
    supports: Mapping[int, NDArray[np.bool_]]
    weights: NDArray[np.float64]

    @property
    def column(self) -> int:
        """The column."""
        return self.grown.column

    @classmethod
    def of(cls, task: LearningTask, grown: Grown, supports: Mapping[int, NDArray[np.bool_]]) -> Self:
        """Fit the weights by iterative scaling (Deming and Stephan 1940) on training records."""
        column, size = grown.column, task.sizes[grown.column]
        counts = np.bincount(task.codes[:, column], minlength=size)
        shares = grown.leaves.shares(size) + _SCARCELY * counts / counts.sum()
        step = cls(grown, shares, supports, np.ones(size))
        codes = task.codes[np.linspace(0, len(task.codes) - 1, min(_FITTED_ON, len(task.codes))).astype(np.intp)]
        possible = step.possible(codes)
        wanted = np.bincount(codes[possible.any(axis=1), column], minlength=size)
        for _ in range(_ROUNDS):
            scaled = possible * step.weights
            scaled /= np.maximum(scaled.sum(axis=1, keepdims=True), np.finfo(float).tiny)
            step.weights[:] *= (wanted + _SCARCELY) / (scaled.sum(axis=0) + _SCARCELY)
            step.weights[:] = np.clip(step.weights / step.weights.max(), _SCARCELY, 1)
        return step

    def possible(self, codes: Codes) -> NDArray[np.float64]:
        """(records, levels) Return the shares in each record's leaf; 0 for levels that are excluded."""
        possible = self.shares[_leaf(self.grown.tree, self.grown.predictors, codes)]
        for earlier, support in self.supports.items():
            possible *= support[codes[:, earlier]]
        return possible

    def drawn(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """(records,) Return a level for each record; any level of its leaf if all are excluded."""
        size = max(1, _BATCH // len(self.weights))
        return np.concatenate([self._drawn(codes[each : each + size], rng) for each in range(0, len(codes), size)])

    def _drawn(self, codes: Codes, rng: np.random.Generator) -> Codes:
        below = (self.possible(codes) * self.weights).cumsum(axis=1)
        level = (rng.random(len(codes))[:, None] * below[:, -1:] >= below).sum(axis=1)
        return np.where(below[:, -1] > 0, level.clip(max=below.shape[1] - 1), self.grown.drawn(codes, rng))


@dataclass(frozen=True, eq=False)
class Sequential(Model):
    """The model: a step for each column."""

    steps: Sequence[Step]

    def sample(self, records: int, rng: np.random.Generator) -> Codes:
        """(records, columns) Return the levels of new records."""
        codes = np.zeros((records, len(self.steps)), dtype=np.intp)
        for step in self.steps if records else ():
            codes[:, step.column] = step.drawn(codes, rng)
        return codes


class SequentialMethod(Method):
    """A method of such steps, trained at once and without a guarantee."""

    @abstractmethod
    def steps(self, task: LearningTask, rng: np.random.Generator) -> Sequence[Step]:
        """Learn the step of each column, in the order in which they are drawn."""

    def train(
        self,
        task: LearningTask,
        rng: np.random.Generator,
        state: Mapping[str, Any] | None = None,  # noqa: ARG002 - training is one step, so there is nothing to go on from
    ) -> Iterator[Model]:
        """Yield the only model.

        Raises:
            TableError: There are no records.
        """
        if not len(task.codes):
            raise TableError("there are no records to learn from")
        yield Sequential(self.steps(task, rng))


def _tree(
    task: LearningTask, column: int, features: NDArray[np.float32], fewest: int, rng: np.random.Generator
) -> _Tree:
    settings = {"min_samples_leaf": fewest, "random_state": int(rng.integers(2**31))}
    target = _target(task, column, rng)
    if target is None:
        classifier: _Tree = DecisionTreeClassifier(**settings).fit(features, task.codes[:, column])
        return classifier
    regressor: _Tree = DecisionTreeRegressor(**settings).fit(features, target)
    return regressor


def _target(task: LearningTask, column: int, rng: np.random.Generator) -> NDArray[np.float64] | None:
    """(records,) Return the target of a regression tree; `None` for a classification tree."""
    codes, levels = task.codes[:, column], task.levels[column]
    if levels.positions is not None:
        return levels.positions[codes]
    return _ordered(codes, task.codes[:, -1], rng)[codes] if levels.size > _MOST_CLASSES else None


def _leaf(tree: _Tree | None, predictors: Predictors, codes: Codes) -> Codes:
    if tree is None:
        return np.zeros(len(codes), dtype=np.intp)
    return tree.apply(predictors.features(codes)).astype(np.intp)


def _scores(task: LearningTask, other: int, column: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """(levels of `other`,) Return numbers whose order lets a tree for `column` split the levels well."""
    levels, positions = task.levels[other], task.levels[column].positions
    if levels.positions is not None:
        return np.arange(levels.size, dtype=np.float32)
    codes, predicted = task.codes[:, other], task.codes[:, column]
    if positions is None:
        return _ordered(codes, predicted, rng).astype(np.float32)
    means = np.bincount(codes, positions[predicted]) / np.maximum(np.bincount(codes), 1)
    return means.astype(np.float32)


def _ordered(rows: Codes, columns: Codes, rng: np.random.Generator) -> NDArray[np.float64]:
    """(levels of `rows`,) Return their first principal component, approximately: the rows are shares of the columns.

    In this order of categories, some split between neighbours is optimal for two classes (Breiman et al. 1984, theorem
    4.5), and seldom far from optimal for more (Coppersmith, Hong and
    Hosking 1999, "Partitioning nominal attributes in decision trees"). The power iteration never builds the matrix,
    which may have millions of cells.

    Args:
        rows: (records,) The level of each record in one column.
        columns: (records,) The level in another.
    """
    counts = np.maximum(np.bincount(rows), 1)
    direction: NDArray[np.float64] = rng.standard_normal(int(columns.max()) + 1)
    score = np.zeros(len(counts))
    for _ in range(_STEPS):
        score = np.bincount(rows, direction[columns]) / counts
        score = score - score.mean()
        direction = np.bincount(columns, (score / counts)[rows]).astype(np.float64)
        direction = direction / max(float(np.linalg.norm(direction)), np.finfo(float).tiny)
    return score


FEWEST: Final = 5
"""Minimum training records of a leaf, times the most of a person, without the privacy knob."""


class Cart(SequentialMethod):
    """Classification and regression trees, one column after the other.

    The label comes first, then the attributes in order. A tree predicts each column from the earlier ones: a new record
    is assigned to a leaf, and gets the level of a random training record of that leaf
    (Reiter 2005, "Using CART to generate partially synthetic public use microdata"; Nowok, Raab and Dibben 2016,
    "synthpop: Bespoke creation of synthetic data in R"), with all columns synthetic and without smoothing.

    There is no guarantee. A leaf of 5 records gives away much about them: on 10,000 records of the health insurance
    study, membership inference by the nearest generated record had an AUC of 0.59. The privacy knob enlarges the leaves
    of each quasi-identifier by its weight.
    """

    heeds: ClassVar[frozenset[str]] = frozenset({"privacy"})

    def steps(self, task: LearningTask, rng: np.random.Generator) -> Sequence[Step]:
        """Return the label's step, then those of the attributes."""
        label = len(task.levels) - 1
        order = (label, *range(label))
        fewest = FEWEST * task.rows
        leaves = np.ceil(np.minimum(fewest * (1 + task.costs), max(fewest, len(task.codes)))).astype(int)
        return [Grown.of(task, order[:place], each, int(leaves[each]), rng) for place, each in enumerate(order)]


LEAVES: Final = (200, 1_000)
"""Without knobs, a leaf has at least a tenth of the training records, within these limits, times the most records of a
person."""

_SHARE: Final = 0.1

_IN_A_BOOSTED_LEAF: Final = 20


class Trees(SequentialMethod):
    """Trees with large leaves for attributes, and boosted trees for the label.

    The utility of a release lies in the association of attributes with the label, its risk in associations among
    attributes. So the attributes are drawn one after the other by trees with large leaves. The label comes last,
    predicted by boosted trees from all attributes: their many small corrections follow no single record. The privacy
    knob enlarges the leaves of each quasi-identifier by its weight, up to no tree at all, and those of the boosted
    trees; the value knob makes the leaves of attributes smaller by their importance.

    Levels that hardly any training records have together are not drawn together (`supports` of the task). Without this,
    large leaves draw columns nearly on their own, and records contradict themselves.

    There is no guarantee.
    """

    heeds: ClassVar[frozenset[str]] = frozenset({"privacy", "value"})
    fewest_together: ClassVar[int] = FEWEST

    def steps(self, task: LearningTask, rng: np.random.Generator) -> Sequence[Step]:
        """Return the steps of the attributes, then the label's."""
        label, leaves = len(task.levels) - 1, leaves_of(task)
        attributes = range(label)
        grown = [_attribute(task, attributes[:place], place, leaves[place], rng) for place in attributes]
        can_be_predicted = label > 0 and len(np.unique(task.codes[:, label])) > 1
        return [*grown, _Boosted.of(task, label, rng) if can_be_predicted else Grown.of(task, (), label, 1, rng)]


def _attribute(
    task: LearningTask, before: Sequence[int], column: int, fewest: int, rng: np.random.Generator
) -> Grown | Supported:
    grown = Grown.of(task, before, column, fewest, rng)
    supports = {one: support for (one, other), support in task.supports.items() if other == column}
    return Supported.of(task, grown, supports) if supports else grown


def leaves_of(task: LearningTask) -> list[int]:
    """(columns,) The minimum training records of leaves of each column's tree; all records for no tree."""
    usual = np.clip(_SHARE * len(task.codes), task.rows * LEAVES[0], task.rows * LEAVES[1])
    sizes = usual * (1 + task.costs) / (1 + task.knobs.value * task.importance)
    return [int(each) for each in np.clip(np.ceil(sizes), _IN_A_BOOSTED_LEAF * task.rows, max(len(task.codes), 1))]


@dataclass(frozen=True, eq=False)
class _Boosted:
    """The label, predicted by boosted trees from all attributes."""

    column: int
    predictors: Predictors
    classifier: Any

    @classmethod
    def of(cls, task: LearningTask, label: int, rng: np.random.Generator) -> Self:
        """Fit the trees."""
        predictors = Predictors.of(task, range(label), label, rng)
        in_a_leaf = int(np.ceil(_IN_A_BOOSTED_LEAF * task.rows * (1 + task.knobs.privacy)))
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
