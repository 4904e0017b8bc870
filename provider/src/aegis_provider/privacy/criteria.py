"""Privacy criteria of equivalence classes, class by class and of the worst.

Of several sensitive attributes the worst counts. `q`: the distribution of a sensitive attribute in a class; `p`: in the
whole table.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.privacy.classes import Classes, SensitiveCounts

Numbers: TypeAlias = NDArray[np.float64]

MEASURED: Final = ("k", "l", "entropy_l", "t", "ordered_t", "alpha", "beta", "delta_disclosure")
"""The criteria that a table shows whether it meets, among the names of privacy."""

AT_LEAST: Final = frozenset({"k", "l", "entropy_l"})
"""Those that promise at least a number; the others promise at most one."""

# Entropies and distances are sums of fractions: what differs by less is rounding.
_ROUNDING = 1e-9


def measure_privacy(classes: Classes, names: Sequence[str] = MEASURED) -> dict[str, int | float]:
    """The numbers by name that the classes reach: what the worst of them does.

    Only `k` without a sensitive attribute, and nothing without records. `names`: of `MEASURED`.
    """
    if not len(classes):
        return {}
    worst: dict[str, int | float] = {}
    for name in names:
        if name == "k" or classes.sensitive:
            values = by_class(classes, name)
            found = float(values.min() if name in AT_LEAST else values.max())
            worst[name] = int(found) if name in {"k", "l"} else found
    return worst


def breaks(classes: Classes, promise: Mapping[str, float]) -> NDArray[np.bool_]:
    """(classes,) which classes break a promise; `promise`: privacy by name.

    Nothing breaks what a table cannot show (`epsilon`), nor what would need a sensitive attribute where there is none.
    """
    broken = np.zeros(len(classes), dtype=np.bool_)
    for name, limit in promise.items():
        if name == "k" or (name in MEASURED and classes.sensitive):
            broken |= ~_holds(name, by_class(classes, name), limit)
    return broken


def holds(name: str, value: float, limit: float) -> bool:
    """Whether a criterion that reaches `value` keeps the promise `limit`; rounding breaks none."""
    return bool(_holds(name, np.float64(value), limit))


def _holds(name: str, values: Numbers | np.float64, limit: float) -> NDArray[np.bool_] | np.bool_:
    slack = _ROUNDING * max(1.0, abs(limit))
    return values >= limit - slack if name in AT_LEAST else values <= limit + slack


def by_class(classes: Classes, name: str) -> Numbers:
    """(classes,) a criterion of `MEASURED` of every class; all but `k` need a sensitive attribute."""
    if name == "k" or not len(classes):
        return classes.sizes.astype(np.float64)
    each = [_CRITERIA[name](classes, counts) for counts in classes.sensitive.values()]
    return reduce(np.minimum if name in AT_LEAST else np.maximum, each)


def _shares(classes: Classes, counts: SensitiveCounts) -> tuple[Numbers, Numbers]:
    """(cells,) of every cell its share of its class, `q`, and its value's of the whole table, `p`."""
    q = counts.counts / classes.sizes[counts.classes]
    p = counts.whole / counts.whole.sum()
    return q, p[counts.values]


def _sum_of(classes: Classes, counts: SensitiveCounts, cells: Numbers) -> Numbers:
    return np.bincount(counts.classes, cells, len(classes)).astype(np.float64, copy=False)


def _largest_of(classes: Classes, counts: SensitiveCounts, cells: Numbers) -> Numbers:
    starts = np.searchsorted(counts.classes, np.arange(len(classes)))
    found: Numbers = np.maximum.reduceat(cells, starts)
    return found


def _distinct_l(classes: Classes, counts: SensitiveCounts) -> Numbers:
    """Distinct l-diversity (Machanavajjhala et al. 2007): how many values the class has."""
    return _sum_of(classes, counts, np.ones(len(counts.counts)))


def _entropy_l(classes: Classes, counts: SensitiveCounts) -> Numbers:
    """Entropy l-diversity (Machanavajjhala et al. 2007): `exp(H(q))`, the largest `l` with `H(q) >= ln l`."""
    q, _ = _shares(classes, counts)
    return np.exp(_sum_of(classes, counts, -q * np.log(q)))


def _equal_t(classes: Classes, counts: SensitiveCounts) -> Numbers:
    """t-closeness, equal distance (Li et al. 2007): `sum |q - p| / 2`, which is the sum of `q - p` where `q > p`."""
    q, p = _shares(classes, counts)
    return _sum_of(classes, counts, np.maximum(q - p, 0.0))


def _ordered_t(classes: Classes, counts: SensitiveCounts) -> Numbers:
    """t-closeness, ordered distance (Li et al. 2007): `sum_i |Q_i - P_i| / (m - 1)`, `Q` and `P` cumulative.

    Between two values of a class `Q` does not change while `P` rises, so that each such stretch is a closed sum.
    """
    values = len(counts.whole)
    if values == 1:
        return np.zeros(len(classes))
    below = np.cumsum(counts.whole) / counts.whole.sum()
    first = np.searchsorted(counts.classes, np.arange(len(classes)))
    earlier = np.cumsum(classes.sizes) - classes.sizes
    level = (np.cumsum(counts.counts) - earlier[counts.classes]) / classes.sizes[counts.classes]
    ends = np.append(counts.values[1:], values)
    ends[first[1:] - 1] = values
    head = _stretch(below, np.zeros(len(classes)), np.zeros(len(classes), dtype=np.intp), counts.values[first])
    return (head + _sum_of(classes, counts, _stretch(below, level, counts.values, ends))) / (values - 1)


def _stretch(below: Numbers, level: Numbers, start: NDArray[np.intp], end: NDArray[np.intp]) -> Numbers:
    """`sum |level - below[i]|` of `start <= i < end`, for ascending `below`."""
    sums = np.append(0.0, np.cumsum(below))
    turn = np.clip(np.searchsorted(below, level), start, end)
    under = level * (turn - start) - (sums[turn] - sums[start])
    over = (sums[end] - sums[turn]) - level * (end - turn)
    # A sum of nothing may come out as less, by rounding.
    found: Numbers = np.maximum(under + over, 0.0)
    return found


def _alpha(classes: Classes, counts: SensitiveCounts) -> Numbers:
    """(alpha, k)-anonymity (Wong et al. 2006), of every value of the attribute: `max q`."""
    q, _ = _shares(classes, counts)
    return _largest_of(classes, counts, q)


def _beta(classes: Classes, counts: SensitiveCounts) -> Numbers:
    """Basic beta-likeness (Cao and Karras 2012): `max (q - p) / p`, the relative gain of confidence."""
    q, p = _shares(classes, counts)
    return _largest_of(classes, counts, (q - p) / p)


def _delta_disclosure(classes: Classes, counts: SensitiveCounts) -> Numbers:
    """delta-disclosure (Brickell and Shmatikov 2008): `max |ln(q / p)|`, of the values that a class has.

    In the paper a value that a class lacks makes delta infinite, as it would be of nearly every table. Such values are
    left out here, as in pycanon; they still show in `l` and `t`.
    """
    q, p = _shares(classes, counts)
    return _largest_of(classes, counts, np.abs(np.log(q / p)))


_CRITERIA: Final[Mapping[str, Callable[[Classes, SensitiveCounts], Numbers]]] = {
    "l": _distinct_l,
    "entropy_l": _entropy_l,
    "t": _equal_t,
    "ordered_t": _ordered_t,
    "alpha": _alpha,
    "beta": _beta,
    "delta_disclosure": _delta_disclosure,
}
