"""MST: a tree of pairs that is chosen and counted with differential privacy.

McKenna, Miklau and Sheldon 2021, "Winning the NIST contest": a third of the budget each for the noisy counts
of all columns, for choosing the pairs, and for the noisy counts of these. Neighbouring tables differ by one record,
which is in one cell of each marginal, so each marginal has the L2 sensitivity 1 and noise of deviation s uses 1 / 2s^2
of the budget (Bun and Steinke 2016, proposition 1.6; Canonne, Kamath and Steinke 2020, for integers), and
budgets add up (Bun and Steinke 2016, lemma 1.7).

Unlike the authors' program, rare levels that are ordered are put together with their neighbours, levels are drawn from
their groups by their noisy counts, and the errors of pairs are whole numbers, so that one record changes them by at
most 1 in floating point, too.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.synth.generate.levels import Codes, Levels
from aegis_provider.synth.generate.methods.conditional import Conditional
from aegis_provider.synth.generate.methods.marginals.estimation import estimated
from aegis_provider.synth.generate.methods.marginals.groups import Groups
from aegis_provider.synth.generate.methods.marginals.noise import noisy, noisy_largest
from aegis_provider.synth.generate.methods.marginals.tree import Pair, TreeModel, outward, spanning_tree

_ROUNDING: Final = 1e-12
"""This share of the budget is left, so that rounding never uses more than all of it."""


@dataclass(frozen=True)
class Spending:
    """How the budget is spent.

    Attributes:
        single: The standard deviation of the noise on the counts of each column.
        choice: The budget of each choice of a pair.
        pair: The standard deviation of the noise on the counts of each chosen pair.
    """

    single: float
    choice: float
    pair: float

    @classmethod
    def of(cls, rho: float, columns: int) -> "Spending":
        """Divide a budget among the columns and the pairs of a tree of them; one column gets it all."""
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
        codes: (records, columns) The levels of the records.
        levels: The levels of each column, known anyway; their shares are not used.
        rho: The budget of zCDP.
        share: Returns the share, in (0, 1], of the error of a pair that counts when pairs are chosen. It must not
            depend on the records.
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
    """Return a tree of the pairs that independent columns with the noisy counts would have most wrong."""
    total = np.mean([each.noisy.sum() for each in groups])
    shares = [simplex(each.counts, max(1.0, float(total))) for each in groups]

    def error(pair: Pair) -> int:
        expected = np.rint(np.outer(shares[pair[0]], shares[pair[1]]) / max(1.0, float(total)))
        whole = int(np.abs(_counts(grouped, groups, pair) - expected.astype(np.int64)).sum())
        # A fraction of whole numbers, rounded down: of at most 1, it changes by at most 1 if the error does.
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
    """(levels,) Return the nearest counts that are not negative and have this sum (Duchi et al. 2008, figure 1)."""
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
    return TreeModel(root, first, steps, [each.within() for each in groups])
