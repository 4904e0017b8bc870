"""Maskings that merge values with similar information about the label, fitted to the counts of a table.

The information of groups of values is their mutual information with the label, `I`. In nats,
`N I = sum_g h(g) - h(all)` with `h(g) = sum_y n_gy log(n_gy / n_g)`, so merging two groups loses
`h(1) + h(2) - h(1 and 2)`, which is never negative (Slonim and Tishby, Agglomerative information bottleneck, 1999).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, count, pairwise
from typing import Final, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from aegis_provider.counting import merging
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import Counts, JointCounts, Places
from aegis_provider.counting.published_domain import LEAST, cut_where_round
from aegis_provider.masking import EdgeBuckets, Function
from aegis_provider.masking.hierarchy import Tree, TreeHierarchy, depth_of, paths_of
from aegis_provider.plan.model import Attribute, Plan
from aegis_provider.table import Source, open_table
from aegis_provider.table.arithmetic import plain, simplest
from aegis_provider.table.values import MISSING, Domain, ValueType, decimal_of, infer_type
from aegis_sdk.printable import with_blanks

Group: TypeAlias = tuple[int, ...]
"""The places of the values in a group, ascending."""

Groups: TypeAlias = tuple[Group, ...]
"""All values of a domain in groups, ordered by their first values."""


def folded(joint: Counts, groups: Groups) -> Counts:
    """Return the (groups, labels) counts of these groups of the values in (values, labels) counts."""
    return np.stack([joint[list(group)].sum(axis=0) for group in groups])


def without_labels_of_rare(joint: Counts, least: int) -> NDArray[np.float64]:
    """Return counts that hide the labels of rare values from merges, since groups could disclose them.

    Records of values with fewer than `least` get the average labels of all others.

    Args:
        joint: (values, labels) counts.
        least: Minimum records of a value whose labels are used.
    """
    records = joint.sum(axis=1)
    rare = records < least
    labels = joint[~rare].sum(axis=0) if not rare.all() else np.ones(joint.shape[1])
    return np.where(rare[:, np.newaxis], np.outer(records, labels / labels.sum()), joint)


def blind_runs(records: NDArray[np.number], least: int) -> Places:
    """(n,) The run of each of `n` ordered values, from 0: neighbours until they have `least` records together.

    No run depends on labels. A remainder with fewer records belongs to the last run.

    Args:
        records: (n,) The records of each value.
        least: Minimum records of a run.
    """
    runs, run, held = np.zeros(len(records), dtype=np.intp), 0, 0
    for place, number in enumerate(records.tolist()):
        run, held = (run + 1, 0) if held >= least else (run, held)
        runs[place], held = run, held + number
    if held < least:
        runs[runs == run] = max(run - 1, 0)
    return runs


def merge_neighbours(joint: Counts, minimum: int, sizes: Sequence[int]) -> list[Groups]:
    """Return the best nested partition of ordered values into intervals for each size.

    Of all partitions into at most `size` intervals that are unions of the previous ones and have at least `minimum`
    records each, it preserves the most information (by dynamic programming). Values with fewer records in total become
    one interval.

    Args:
        joint: (values, labels) counts of one value or more, in the order of the values.
        minimum: Minimum records of a group.
        sizes: The most groups of each partition, descending.
    """
    groups: Groups = tuple((place,) for place in range(len(joint)))
    partitions = []
    for size in sizes:
        cuts = _best_cuts(folded(joint, groups), minimum, size)
        groups = tuple(sum(groups[low:high], ()) for low, high in pairwise(cuts))
        partitions.append(groups)
    return partitions


def merge_any(joint: NDArray[np.number], minimum: int, sizes: Sequence[int]) -> list[Groups]:
    """Return a nested partition of unordered values for each size.

    Groups are merged greedily, with the least loss of information: first the smallest one with another, while it has
    fewer than `minimum` records; then any two.

    Args:
        joint: (values, labels) counts of one value or more.
        minimum: Minimum records of a group.
        sizes: The most groups of each partition, descending.
    """
    merging = _Merging(joint)
    while len(merging.groups) > 1 and merging.sizes.min() < minimum:
        smallest = int(merging.sizes.argmin())
        merging.merge(smallest, int(merging.losses[smallest].argmin()))
    partitions = []
    for size in sizes:
        while len(merging.groups) > size:
            merging.merge(*divmod(int(merging.losses.argmin()), len(joint)))
        partitions.append(tuple(sorted(merging.groups.values())))
    return partitions


class _Merging:
    """Groups under pairwise merging. A group merged into another has infinite size.

    Attributes:
        groups: The groups by the place of one of their values.
        sizes: (values,) The records of the group at each place.
        losses: (values, values) The loss of merging the groups at two places, in nats times records.
    """

    def __init__(self, joint: NDArray[np.number]) -> None:
        self.groups: dict[int, Group] = {place: (place,) for place in range(len(joint))}
        self.sizes = np.rint(joint.sum(axis=1)).astype(np.float64)  # integers, although labels may be fractional
        self._joint = joint.astype(np.float64)
        self.losses = np.stack([self._losses_with(place) for place in range(len(joint))])

    def merge(self, one: int, other: int) -> None:
        """Merge the groups at two places; the result is at the first."""
        self.groups[one] = tuple(sorted(self.groups[one] + self.groups.pop(other)))
        self.sizes[one], self.sizes[other] = self.sizes[one] + self.sizes[other], np.inf
        self._joint[one] += self._joint[other]
        self.losses[other] = self.losses[:, other] = np.inf
        self.losses[one] = self.losses[:, one] = self._losses_with(one)

    def _losses_with(self, place: int) -> NDArray[np.float64]:
        purity = _purity(self._joint)
        losses: NDArray[np.float64] = purity + purity[place] - _purity(self._joint + self._joint[place])
        losses[place] = np.inf
        return np.where(np.isinf(self.sizes), np.inf, losses)


def _purity(joint: NDArray[np.number]) -> NDArray[np.float64]:
    """(groups,) `h`: the records of each group times its negative entropy, in nats."""
    counts = joint.astype(np.float64)
    sizes = counts.sum(axis=1)
    pure: NDArray[np.float64] = scipy.special.xlogy(counts, counts).sum(axis=1) - scipy.special.xlogy(sizes, sizes)
    return pure


def _best_cuts(joint: Counts, minimum: int, most: int) -> list[int]:
    """Return the beginnings of at most `most` intervals of the rows, and the end of the last.

    They preserve the most information of all with `minimum` records each. `best[j]` is the maximum information of a
    number of intervals of the first `j` rows: the maximum over `i` of `best[i]` for one interval less, plus that of
    rows `i` to `j`.
    """
    rows = len(joint)
    if joint.sum() < minimum:
        return [0, rows]
    kept = _kept_by_intervals(joint, minimum)
    best, beginnings, totals = np.full(rows + 1, -np.inf), [], []
    best[0] = 0.0
    for _ in range(min(most, rows)):
        sums = best[:, None] + kept
        beginnings.append(sums.argmax(axis=0))
        best = sums.max(axis=0)
        totals.append(best[rows])
    cuts = [rows]
    # With a minimum, the most intervals are not always the best, nor even possible.
    for beginning in reversed(beginnings[: int(np.argmax(totals)) + 1]):
        cuts.append(int(beginning[cuts[-1]]))
    return cuts[::-1]


def _kept_by_intervals(joint: Counts, minimum: int) -> NDArray[np.float64]:
    """(rows + 1, rows + 1) The information of rows `i` to `j` as one group; -inf if they have too few records."""
    rows = len(joint)
    below = np.vstack([np.zeros(joint.shape[1]), np.cumsum(joint, axis=0)])
    kept = np.full((rows + 1, rows + 1), -np.inf)
    for start in range(rows):
        within = below[start + 1 :] - below[start]
        kept[start, start + 1 :] = np.where(within.sum(axis=1) >= minimum, _purity(within), -np.inf)
    return kept


_LONGEST: Final = 40
_NUMBERS: Final = (ValueType.INTEGER, ValueType.NUMBER)


def group_names(texts: Sequence[str], records: Counts, levels: Sequence[Groups]) -> Mapping[Group, str]:
    """Return a name for every group of the levels.

    The name lists the group's values with 20 records or more, the most frequent first, but numbers in order, if they
    fit into 40 characters. Otherwise it is the first of them and the number of the others. Rarer values become
    `others`, without their number, which could disclose who is in the table. Duplicate names get a number at the end.

    Args:
        texts: The values.
        records: (values,) The records of each value.
        levels: Groups of the values.
    """
    named: dict[Group, str] = {}
    for group in dict.fromkeys(chain.from_iterable(levels)):
        frequent = sorted((value for value in group if records[value] >= LEAST), key=lambda value: -int(records[value]))
        if all(texts[value] for value in frequent) and infer_type([texts[value] for value in frequent]) in _NUMBERS:
            frequent.sort(key=lambda value: float(texts[value]))
        told = [with_blanks(re.sub(r"\s+", " ", texts[value])) or "missing" for value in frequent]
        name = _called(told, has_others=len(told) < len(group))
        candidates = (name if number == 1 else f"{name} ({number})" for number in count(1))
        taken = set(named.values())
        named[group] = next(candidate for candidate in candidates if candidate not in taken)
    return named


def _called(texts: Sequence[str], *, has_others: bool) -> str:
    def rest(left: int) -> str:
        return " and others" if has_others else f" and {left} more" * (left > 0)

    for shown in range(len(texts), 0, -1):
        name = " | ".join(texts[:shown]) + rest(len(texts) - shown)
        if len(name) <= _LONGEST:
            return name
    return f"{texts[0][:_LONGEST]}..." + rest(len(texts) - 1) if texts else "others"


_FEWEST_RECORDS: Final = 5
_MOST_GROUPS: Final = 200
_INFINITE: Final = Decimal("inf")


def default_minimum(records: int) -> int:
    """Return the minimum records of a group in a table with this many: 0.5 % of them, and at least 5."""
    return max(_FEWEST_RECORDS, records // _MOST_GROUPS)


@dataclass(frozen=True)
class Intervals:
    """Ordered values in groups of neighbours.

    Attributes:
        groups: The groups of values that are not missing.
        edges: The edges of the intervals; the first and the last are infinite.
    """

    groups: Groups
    edges: tuple[Decimal, ...]


def fit_intervals(domain: Domain, joint: Counts, minimum: int, sizes: Sequence[int]) -> list[Intervals]:
    """Return the best intervals of a domain of numbers or bins for each size, nested; missing values stay missing.

    Rare values are merged with neighbours independently of their labels, and no edge discloses one.

    Args:
        domain: The values.
        joint: (values, labels) counts.
        minimum: Minimum records of an interval.
        sizes: Maximum intervals of each level, descending.
    """
    places = np.arange(has_missing(domain), len(domain))
    if not len(places):
        return [Intervals((), (-_INFINITE, _INFINITE)) for _ in sizes]
    records = joint[places].sum(axis=1)
    pieces = cut_where_round(domain, places, records >= LEAST, binned=domain.value_type is ValueType.STRING)
    runs = blind_runs(np.bincount(pieces, records), LEAST)[pieces]
    counts = merging.folded(joint[places], runs)
    levels = [_members(groups, runs) for groups in merge_neighbours(counts, minimum, sizes)]
    edges = [[_edge(domain, places, group[0]) for group in groups[1:]] for groups in levels]
    return [Intervals(groups, (-_INFINITE, *cuts, _INFINITE)) for groups, cuts in zip(levels, edges, strict=True)]


def _members(groups: Groups, runs: Places) -> Groups:
    """Convert groups of runs to groups of the values in these runs."""
    return tuple(tuple(np.flatnonzero(np.isin(runs, group)).tolist()) for group in groups)


def _edge(domain: Domain, places: Places, first: int) -> Decimal:
    """Return the simplest number between a value and the previous one, or the lower edge of a bin."""
    before, begin = (domain.texts[places[place]] for place in (first - 1, first))
    if begin[:1] in {"[", "("}:
        return _shortest(Decimal(begin.partition(",")[0][1:]))
    return _shortest(simplest(decimal_of(before), decimal_of(begin)))


def has_missing(domain: Domain) -> int:
    """Return the number of missing values of a domain, 0 or 1; a missing value is the first."""
    return int(domain.texts[:1] == (MISSING,))


def tree_of(texts: Sequence[str], joint: Counts, levels: Sequence[Groups]) -> Tree:
    """Return the tree with these nested groups of values as levels, given (values, labels) counts."""
    names = group_names(texts, joint.sum(axis=1), levels)
    trees: Mapping[Group, Tree | tuple[str, ...]] = {
        group: tuple(texts[value] for value in group) for group in levels[0]
    }
    for finer, coarser in pairwise(levels):
        trees = {
            group: {names[inner]: trees[inner] for inner in finer if set(inner) <= set(group)} for group in coarser
        }
    return {names[group]: tree for group, tree in trees.items()}


def refit(attribute: Attribute, domain: Domain, joint: Counts, minimum: int) -> Attribute:
    """Return an attribute with refitted intervals and trees, each with at most as many groups as before.

    Values of the trees that the domain lacks are merged with others, so that they can still be masked. Other maskings,
    and attributes that are not fitted to the label, stay unchanged.

    Args:
        domain: The values to fit it to, or its bins.
        joint: (values, labels) counts.
        minimum: Minimum records of a group.
    """
    if not attribute.fitted_to_label:
        return attribute
    functions = [masking.function for masking in attribute.maskings]
    numbers = sorted(
        {_intervals(function) for function in functions if isinstance(function, EdgeBuckets)}, reverse=True
    )
    fitted = fit_intervals(domain, joint, minimum, numbers) if numbers else []
    edges = {number: each.edges for number, each in zip(numbers, fitted, strict=True)}
    trees = {id(function.tree): function.tree for function in functions if isinstance(function, TreeHierarchy)}
    trees = {place: _refitted_tree(tree, domain, joint, minimum) for place, tree in trees.items()}
    maskings = tuple(replace(masking, function=_anew(masking.function, edges, trees)) for masking in attribute.maskings)
    return replace(attribute, maskings=maskings)


def refitted(
    plan: Plan,
    table: Source,
    *,
    minimum: int | None = None,
    delimiter: str = ",",
    memory_limit: str = "1GB",
) -> Plan:
    """Return a plan whose label-fitted attributes are refitted to the records of a table.

    To test a plan on unseen records, refit it to the others first. Ids of maskings stay, and so do bins, which do not
    depend on the label.

    Args:
        table: The records, as for `open_table`.
        minimum: Minimum records of a group; by default `default_minimum` of the table's.

    Raises:
        TableError: The table cannot be read, or does not fit the plan.
    """
    fitted = tuple(attribute for attribute in plan.attributes if attribute.fitted_to_label)
    if not fitted:
        return plan
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        counted = CountedTable.of(opened, replace(plan, attributes=fitted))
    least = minimum or default_minimum(counted.records)
    anew = {
        attribute.attribute.name: refit(attribute.attribute, attribute.domain, joint_of(attribute.counts), least)
        for attribute in counted.attributes
    }
    return replace(plan, attributes=tuple(anew.get(attribute.name, attribute) for attribute in plan.attributes))


def joint_of(counts: JointCounts) -> Counts:
    """Return (values, labels) counts."""
    return counts.fold(range(counts.shape[0]), counts.shape[0])


def _intervals(function: EdgeBuckets) -> int:
    return len(function.edges) - 1


def _anew(function: Function, edges: Mapping[int, tuple[Decimal, ...]], trees: Mapping[int, Tree]) -> Function:
    """Return the function with the edges for its number of intervals, or with its refitted tree."""
    if isinstance(function, EdgeBuckets):
        return EdgeBuckets(edges[_intervals(function)])
    return replace(function, tree=trees[id(function.tree)]) if isinstance(function, TreeHierarchy) else function


def _refitted_tree(tree: Tree, domain: Domain, joint: Counts, minimum: int) -> Tree:
    """Return a tree of the same values and number of levels, each with at most as many groups."""
    paths = dict(paths_of(tree))
    levels = range(1, depth_of(tree) + 1)
    sizes = [len({above[-min(level, len(above))] for above in paths.values()}) for level in levels]
    known = np.zeros((len(paths), joint.shape[1]), dtype=joint.dtype)
    for row, text in enumerate(paths):
        if text in domain.places:
            known[row] = joint[domain.places[text]]
    return tree_of(list(paths), known, merge_any(without_labels_of_rare(known, LEAST), minimum, sizes))


def _shortest(number: Decimal) -> Decimal:
    """Return the number without trailing zeros and without an exponent."""
    return Decimal(plain(number.normalize()))
