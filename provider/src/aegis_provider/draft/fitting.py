"""Maskings that merge values with similar information about the label, fitted to the counts of a table."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, count, pairwise
from typing import Final

import numpy as np

from aegis_provider.counting import merging
from aegis_provider.counting.counted_table import LEAST, CountedTable
from aegis_provider.counting.counts import Counts, JointCounts, Places
from aegis_provider.counting.published_domain import cut_where_round
from aegis_provider.draft.merges import (
    Group,
    Groups,
    Level,
    best_levels,
    blind_runs,
    merge_any,
    merge_neighbours,
    without_labels_of_rare,
)
from aegis_provider.masking import EdgeBuckets, Function
from aegis_provider.masking.hierarchy import Tree, TreeHierarchy, depth_of, paths_of
from aegis_provider.plan.model import Attribute, Plan
from aegis_provider.table import Source, open_table
from aegis_provider.table.arithmetic import plain, simplest
from aegis_provider.table.values import MISSING, Domain, ValueType, decimal_of, infer_type
from aegis_sdk.printable import with_blanks

_LONGEST: Final = 40
_NUMBERS: Final = (ValueType.INTEGER, ValueType.NUMBER)


def group_names(texts: Sequence[str], people: Counts, levels: Sequence[Groups]) -> Mapping[Group, str]:
    """Return a name for every group of the levels.

    The name lists the group's values of 20 people or more, the most frequent first, but numbers in order, if they
    fit into 40 characters. Otherwise it is the first of them and the number of the others. Rarer values become
    `others`, without their number, which could disclose who is in the table. Duplicate names get a number at the end.

    Args:
        texts: The values.
        people: (values,) How many have each value: records, unless somebody has several.
        levels: Groups of the values.
    """
    named: dict[Group, str] = {}
    for group in dict.fromkeys(chain.from_iterable(levels)):
        frequent = sorted((value for value in group if people[value] >= LEAST), key=lambda value: -int(people[value]))
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


#: Maximum groups of each level, the finest first.
SIZES: Final = (16, 8, 4, 2)

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
        level: The groups of values that are not missing.
        edges: The edges of the intervals; the first and the last are infinite.
    """

    level: Level
    edges: tuple[Decimal, ...]


def fit_intervals(
    domain: Domain, joint: Counts, minimum: int, sizes: Sequence[int], least: int = LEAST
) -> list[Intervals]:
    """Return intervals of a domain of numbers or bins for each size, nested, as `best_levels` judges them.

    Missing values stay missing. Rare values are merged with neighbours independently of their labels, and no edge
    discloses one.

    Args:
        domain: The values.
        joint: (values, labels) counts.
        minimum: Minimum records of an interval.
        sizes: Maximum intervals of each level, descending.
        least: The fewest records of a value that is not rare.
    """
    places = np.arange(has_missing(domain), len(domain))
    if not len(places):
        return [Intervals(Level((), by_label=False), (-_INFINITE, _INFINITE)) for _ in sizes]
    records = joint[places].sum(axis=1)
    pieces = cut_where_round(domain, places, records >= least, binned=domain.value_type is ValueType.STRING)
    runs = blind_runs(np.bincount(pieces, records), least)[pieces]
    counts = merging.folded(joint[places], runs)
    levels = [
        replace(level, groups=_members(level.groups, runs))
        for level in best_levels(counts, merge_neighbours, minimum, sizes)
    ]
    edges = [[_edge(domain, places, group[0]) for group in level.groups[1:]] for level in levels]
    return [Intervals(level, (-_INFINITE, *cuts, _INFINITE)) for level, cuts in zip(levels, edges, strict=True)]


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


def fit_groups(joint: Counts, minimum: int, sizes: Sequence[int], least: int = LEAST) -> list[Level]:
    """Return groups of unordered values for each size, nested, as `best_levels` judges them.

    Args:
        joint: (values, labels) counts; labels of rare values have no influence.
        minimum: Minimum records of a group.
        sizes: The most groups of each level, descending.
        least: The fewest records of a value that is not rare.
    """
    return best_levels(without_labels_of_rare(joint, least), merge_any, minimum, sizes)


def tree_of(texts: Sequence[str], people: Counts, levels: Sequence[Groups]) -> Tree:
    """Return the tree with these nested groups of values as levels, given how many (values,) people have each."""
    names = group_names(texts, people, levels)
    trees: Mapping[Group, Tree | tuple[str, ...]] = {
        group: tuple(texts[value] for value in group) for group in levels[0]
    }
    for finer, coarser in pairwise(levels):
        trees = {
            group: {names[inner]: trees[inner] for inner in finer if set(inner) <= set(group)} for group in coarser
        }
    return {names[group]: tree for group, tree in trees.items()}


def refit(attribute: Attribute, domain: Domain, joint: Counts, minimum: int, least: int = LEAST) -> Attribute:
    """Return an attribute with refitted intervals and trees, each with at most as many groups as before.

    How many of them look at the label is judged anew, too.

    Values of the trees that the domain lacks are merged with others, so that they can still be masked. Other maskings,
    and attributes that are not fitted to the label, stay unchanged.

    Args:
        domain: The values to fit it to, or its bins.
        joint: (values, labels) counts.
        minimum: Minimum records of a group.
        least: The fewest records of a value that is not rare.
    """
    if not attribute.fitted_to_label:
        return attribute
    functions = [masking.function for masking in attribute.maskings]
    numbers = {_intervals(function) for function in functions if isinstance(function, EdgeBuckets)}
    sizes = _sizes_with(numbers)
    fitted = fit_intervals(domain, joint, minimum, sizes, least) if numbers else []
    edges = {number: each.edges for number, each in zip(sizes, fitted, strict=False)}
    trees = {id(function.tree): function.tree for function in functions if isinstance(function, TreeHierarchy)}
    trees = {place: _refitted_tree(tree, domain, joint, minimum, least) for place, tree in trees.items()}
    maskings = tuple(replace(masking, function=_anew(masking.function, edges, trees)) for masking in attribute.maskings)
    return replace(attribute, maskings=maskings)


def refitted(
    plan: Plan,
    table: Source,
    *,
    minimum: int | None = None,
    rows: int = 1,
    delimiter: str = ",",
    memory_limit: str = "1GB",
) -> Plan:
    """Return a plan whose label-fitted attributes are refitted to the records of a table.

    To test a plan on unseen records, refit it to the others first. Ids of maskings stay, and so do bins, which do not
    depend on the label.

    Args:
        table: The records, as for `open_table`.
        minimum: Minimum records of a group; by default `default_minimum` of the table's.
        rows: The most records of a person: as many times more make a value frequent.

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
        each.attribute.name: refit(each.attribute, each.domain, joint_of(each.counts), least, LEAST * rows)
        for each in counted.attributes
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


def _sizes_with(numbers: Collection[int]) -> list[int]:
    """Return the sizes that were drafted: these numbers of groups, and sizes of levels that did not carry over."""
    left_out = (size for size in SIZES if not any(size / 2 < number <= size for number in numbers))
    return sorted({*numbers, *left_out}, reverse=True)


def _refitted_tree(tree: Tree, domain: Domain, joint: Counts, minimum: int, least: int) -> Tree:
    """Return a tree of the same values and number of levels, each with at most as many groups."""
    paths = dict(paths_of(tree))
    levels = range(1, depth_of(tree) + 1)
    numbers = [len({above[-min(level, len(above))] for above in paths.values()}) for level in levels]
    sizes = _sizes_with(numbers)
    known = np.zeros((len(paths), joint.shape[1]), dtype=joint.dtype)
    for row, text in enumerate(paths):
        if text in domain.places:
            known[row] = joint[domain.places[text]]
    fitted = dict(zip(sizes, fit_groups(known, minimum, sizes, least), strict=True))
    return tree_of(list(paths), known.sum(axis=1), [fitted[number].groups for number in numbers])


def _shortest(number: Decimal) -> Decimal:
    """Return the number without trailing zeros and without an exponent."""
    return Decimal(plain(number.normalize()))
