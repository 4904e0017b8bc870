"""The method `mbi`: records from a tree of pair marginals, with or without differential privacy.

With it, this is MST (McKenna, Miklau and Sheldon 2021, "Winning the NIST contest"): a third of the budget each for the
noisy counts of all columns, for choosing the pairs, and for the noisy counts of these. Neighbouring tables differ by
one record, which is in one cell of each marginal, so each marginal has the L2 sensitivity 1 and noise of deviation s
uses 1 / 2s^2 of the budget (Bun and Steinke 2016, proposition 1.6; Canonne, Kamath and Steinke 2020, for integers), and
budgets add up (Bun and Steinke 2016, lemma 1.7).

Unlike the authors' program, this merges rare ordered levels with their neighbours, draws levels from their groups by
noisy counts, and uses integer errors of pairs, so that one record changes them by at most 1 also in floating point.
"""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, ClassVar, Final, Self, TypeAlias

import jax
import numpy as np
from numpy.typing import NDArray

from aegis_provider.errors import PlanError, TableError
from aegis_provider.records import Column
from aegis_provider.synth.generate.levels import Codes, Conditional, Levels, spread
from aegis_provider.synth.generate.methods.differential_privacy import (
    STEPS,
    Budget,
    noisy,
    noisy_largest,
    private_levels,
)
from aegis_provider.synth.generate.methods.method import DELTA, Knobs, LearningTask, Model, Noticed
from aegis_provider.table.values import ValueType

Pair: TypeAlias = tuple[int, int]
"""Two columns, in ascending order."""


def spanning_tree(columns: int, chosen: Callable[[Sequence[Pair]], Pair]) -> list[Pair]:
    """Return a tree that connects all columns (Kruskal 1956).

    Args:
        chosen: Chooses among the pairs of columns that are not connected yet; called once per pair.
    """
    part = list(range(columns))
    tree: list[Pair] = []
    while len(tree) < columns - 1:
        pair = chosen([(one, other) for one, other in combinations(range(columns), 2) if part[one] != part[other]])
        part = [part[pair[0]] if each == part[pair[1]] else each for each in part]
        tree.append(pair)
    return tree


def mutual_information(one: Codes, other: Codes) -> float:
    """Return the bias-corrected mutual information of two columns in nats.

    For independent columns of n records, the bias is (rows - 1)(columns - 1) / 2n (Miller 1955). Without the
    correction, columns with many levels seem dependent. The result may be negative.
    """
    size = int(other.max()) + 1
    joint = np.unique(one * size + other, return_counts=True)[1]
    rows, columns = (np.unique(each, return_counts=True)[1] for each in (one, other))
    bias = (len(rows) - 1) * (len(columns) - 1) / (2 * len(one))
    return _entropy(rows) + _entropy(columns) - _entropy(joint) - bias


def _entropy(counts: Codes) -> float:
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def outward(tree: Sequence[Pair], root: int) -> Iterator[tuple[int, int]]:
    """Yield each pair of the tree as (a column nearer to the root, the other), pairs near the root first."""
    reached, rest = {root}, list(tree)
    while rest:
        for pair in [each for each in rest if len(reached.intersection(each)) == 1]:
            near, far = pair if pair[0] in reached else pair[::-1]
            yield near, far
            reached.add(far)
            rest.remove(pair)


@dataclass(frozen=True, eq=False)
class TreeModel(Model):
    """The distribution of a root column, and of each other column given its neighbour towards the root.

    Attributes:
        root: The column that is drawn first.
        first: Its distribution; it has one group.
        steps: The neighbour of each other column, the column, and its distribution for each level of the neighbour.
        levels: If the columns contain groups of levels: the distribution of levels in each group of each column.
    """

    root: int
    first: Conditional
    steps: Sequence[tuple[int, int, Conditional]]
    levels: Sequence[Conditional] = ()

    def sample(self, records: int, rng: np.random.Generator) -> Codes:
        """(records, columns) Draw records with counts of the pairs of the tree that are close to their expectation."""
        codes = np.zeros((records, len(self.steps) + 1), dtype=np.intp)
        if not records:
            return codes
        nothing = np.zeros(records, dtype=np.intp)
        codes[:, self.root] = self.first.drawn(nothing, spread(nothing, rng))
        for near, far, shares in self.steps:
            codes[:, far] = shares.drawn(codes[:, near], spread(codes[:, near], rng))
        for column, levels in enumerate(self.levels):
            codes[:, column] = levels.drawn(codes[:, column], spread(codes[:, column], rng))
        return codes


_DEVIATIONS: Final = 3
"""Minimum noisy count of a group in standard deviations of its noise, as in MST."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of the levels of a column.

    Attributes:
        of_level: (levels,) The group of each level.
        noisy: (levels,) The noisy count of each level.
        deviation: The standard deviation of the noise.
    """

    of_level: Codes
    noisy: NDArray[np.float64]
    deviation: float

    @classmethod
    def of(cls, noisy: NDArray[np.float64], deviation: float, *, ordered: bool) -> Self:
        """Merge rare levels: with their neighbours if they are ordered, otherwise all in one group (MST)."""
        rare = noisy < _DEVIATIONS * deviation
        if ordered:
            return cls(_neighbours(noisy, deviation), noisy, deviation)
        of_level = np.cumsum(~rare) - 1
        of_level[rare] = of_level[-1] + 1
        return cls(of_level, noisy, deviation)

    @property
    def size(self) -> int:
        """How many groups there are."""
        return int(self.of_level.max()) + 1

    @property
    def levels(self) -> NDArray[np.int64]:
        """(groups,) How many levels each group has."""
        return np.bincount(self.of_level)

    @property
    def counts(self) -> NDArray[np.float64]:
        """(groups,) The noisy count of each group. Its noise has `levels` times the variance of a level's."""
        return np.bincount(self.of_level, self.noisy).astype(np.float64)

    def within(self) -> Conditional:
        """Return the distribution of levels in each group by noisy counts; uniform if no count is positive."""
        weights = np.maximum(self.noisy, 0.0)
        nothing = np.bincount(self.of_level, weights)[self.of_level] == 0
        weights[nothing] = 1.0
        cells = np.argsort(self.of_level, kind="stable")
        cells = cells[weights[cells] > 0]
        return Conditional.of_cells(self.of_level[cells], cells, weights[cells], self.size)


def _neighbours(noisy: NDArray[np.float64], deviation: float) -> Codes:
    """(levels,) Group levels in their order; a group ends once its count stands out from its noise."""
    of_level = np.zeros(len(noisy), dtype=np.intp)
    group, count, levels = 0, 0.0, 0
    for level, each in enumerate(noisy):
        of_level[level] = group
        count, levels = count + each, levels + 1
        if count >= _DEVIATIONS * deviation * np.sqrt(levels):
            group, count, levels = group + 1, 0.0, 0
    if levels and group:
        of_level[of_level == group] = group - 1
    return of_level


with warnings.catch_warnings(), jax.enable_x64(True):
    # mbi warns about JAX settings, but the cache of compiled programs must stay on.
    warnings.simplefilter("ignore")
    import mbi

_MOST_STEPS: Final = 20_000
_TOLERANCE: Final = 1e-6
"""The estimation ends at this relative decrease of the loss over 50 steps."""


def estimated(
    groups: Sequence[Groups], pairs: Mapping[Pair, NDArray[np.float64]], deviation: float
) -> dict[tuple[int, ...], NDArray[np.float64]]:
    """Return consistent marginals that fit the noisy ones of single columns and of pairs.

    These are the marginals of the maximum-entropy distribution among those that minimise the sum of squared differences
    over their variances (McKenna, Sheldon and Miklau 2019, "Graphical-model based estimation and inference for
    differential privacy"). It uses double precision: with single precision the estimation stalls.

    Args:
        groups: The groups of each column, with their noisy counts.
        pairs: (groups of the one, groups of the other) The noisy counts of each pair of a tree.

    Returns:
        The nonnegative marginal of each pair and of the last column.
    """
    domain = mbi.Domain(range(len(groups)), [group.size for group in groups])
    total = max(1.0, float(np.mean([group.noisy.sum() for group in groups])))
    asked = [*pairs, (len(groups) - 1,)]
    with jax.enable_x64(True):
        measurements = [_single(column, each) for column, each in enumerate(groups)]
        measurements += [mbi.LinearMeasurement(counts.ravel(), pair, deviation) for pair, counts in pairs.items()]
        model = mbi.estimation.MirrorDescent().estimate(
            domain, measurements, known_total=total, iters=_MOST_STEPS, tol=_TOLERANCE
        )
        return {each: np.maximum(np.asarray(model.project(each).datavector(flatten=False)), 0.0) for each in asked}


def _single(column: int, groups: Groups) -> "mbi.LinearMeasurement":
    """Return the noisy counts of a column, weighted so that all have the same variance."""
    if groups.levels.max() == 1:
        return mbi.LinearMeasurement(groups.counts, (column,), groups.deviation)
    weights = 1 / np.sqrt(groups.levels)
    query = mbi.marginal_loss.WeightedQuery(weights)
    return mbi.LinearMeasurement(groups.counts * weights, (column,), groups.deviation, query)


_ROUNDING: Final = 1e-12
"""This share of the budget is left, so that rounding never uses more than all of it."""


@dataclass(frozen=True)
class Spending:
    """The division of the budget.

    Attributes:
        single: The standard deviation of the noise on the counts of each column.
        pair: The standard deviation of the noise on the counts of each chosen pair.
    """

    single: float
    choice: float
    pair: float

    @classmethod
    def of(cls, rho: float, columns: int) -> "Spending":
        """Divide a budget among the columns and the pairs of a tree; a single column gets all."""
        rho = rho * (1 - _ROUNDING)
        part, pairs = (rho / 3, columns - 1) if columns > 1 else (rho, 1)
        return cls(math.sqrt(columns / (2 * part)), part / pairs, math.sqrt(pairs / (2 * part)))


def private_tree(
    codes: Codes,
    levels: Sequence[Levels],
    rho: float,
    share: Callable[[Pair], float] = lambda _pair: 1.0,
) -> TreeModel:
    """Return a model that is rho-zCDP for tables of these levels.

    Args:
        levels: The levels of each column, not private; their shares are not used.
        share: Returns the weight, in (0, 1], of a pair's error in the choice of pairs. It must not depend on the
            records.
    """
    spending = Spending.of(rho, len(levels))
    groups = [
        Groups.of(
            noisy(np.bincount(column, minlength=each.size), spending.single),
            spending.single,
            ordered=each.positions is not None,
        )
        for column, each in zip(codes.T, levels, strict=True)
    ]
    grouped = np.stack([each.of_level[column] for column, each in zip(codes.T, groups, strict=True)], axis=1)
    tree = _chosen(grouped, groups, spending.choice, share)
    pairs = {pair: noisy(_counts(grouped, groups, pair), spending.pair) for pair in tree}
    return _model(estimated(groups, pairs, spending.pair), groups, tree)


def _chosen(grouped: Codes, groups: Sequence[Groups], rho: float, share: Callable[[Pair], float]) -> list[Pair]:
    """Return a tree of the pairs with the largest error under independence of columns with the noisy counts."""
    total = np.mean([group.noisy.sum() for group in groups])
    shares = [simplex(group.counts, max(1.0, float(total))) for group in groups]

    def error(pair: Pair) -> int:
        expected = np.rint(np.outer(shares[pair[0]], shares[pair[1]]) / max(1.0, float(total)))
        whole = int(np.abs(_counts(grouped, groups, pair) - expected.astype(np.int64)).sum())
        # Exact integer arithmetic: a weight of at most 1, rounded down, changes by at most 1 if the error does.
        numerator, denominator = share(pair).as_integer_ratio()
        return whole * numerator // denominator

    errors: dict[Pair, int] = {}

    def chosen(candidates: Sequence[Pair]) -> Pair:
        errors.update({pair: error(pair) for pair in candidates if pair not in errors})
        return candidates[noisy_largest([errors[pair] for pair in candidates], rho)]

    return spanning_tree(len(groups), chosen)


def _counts(grouped: Codes, groups: Sequence[Groups], pair: Pair) -> NDArray[np.int64]:
    shape = groups[pair[0]].size, groups[pair[1]].size
    cells = np.ravel_multi_index((grouped[:, pair[0]], grouped[:, pair[1]]), shape)
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def simplex(counts: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    """(levels,) Return the nearest nonnegative counts with this sum (Duchi et al. 2008, figure 1)."""
    falling = np.sort(counts)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    nearest: NDArray[np.float64] = np.maximum(counts - excess[np.flatnonzero(falling > excess)[-1]], 0.0)
    return nearest


def _model(
    marginals: Mapping[tuple[int, ...], NDArray[np.float64]], groups: Sequence[Groups], tree: Sequence[Pair]
) -> TreeModel:
    root = len(groups) - 1
    steps = []
    for near, far in outward(tree, root):
        table = marginals[near, far] if near < far else marginals[far, near].T
        steps.append((near, far, Conditional.of_table(table)))
    first = Conditional.of_table(marginals[root,][np.newaxis])
    return TreeModel(root, first, steps, [group.within() for group in groups])


_EPSILONS: Final = (1e-6, 1e6)
"""The smallest and the largest epsilon, as for noise on the counts of an entry."""


class Marginals:
    """Marginals on a tree of pairs.

    Without epsilon: the tree of the pairs with the most mutual information, and their exact counts (Chow and Liu 1968,
    "Approximating discrete probability distributions with dependence trees"). Drawn records have nearly the same counts
    of these pairs, so a pair of levels of only one record is generated, too. There is no guarantee.

    With epsilon: MST (McKenna, Miklau and Sheldon 2021, "Winning the NIST contest") with the estimation of
    Private-PGM. Its noise comes from the operating system's cryptographic source, not from `rng`, since
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
        """Return noisy levels and a noisy number of records; see `private_levels`.

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
        task: LearningTask,
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
            yield private_tree(task.codes, task.levels, Budget.of(*guarantee).tree, partial(_weight, task))
        elif len(task.codes):
            yield _exact_tree(task)
        else:
            raise TableError("there are no records to learn from")


def _weight(task: LearningTask, pair: Pair) -> float:
    """Return the weight, in (0, 1], of a pair: less for two quasi-identifiers."""
    return float(1 / (1 + task.costs[list(pair)].min()))


def _worth(task: LearningTask, pair: Pair) -> float:
    """Return the same weight, increased for an important attribute with the label."""
    near, label = pair[0], len(task.levels) - 1
    gain = task.knobs.value * task.importance[near] if pair[1] == label else 0.0
    return float(_weight(task, pair) * (1 + gain))


def _exact_tree(task: LearningTask) -> TreeModel:
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
