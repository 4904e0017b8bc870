"""Checks that tables of the same two attributes agree where one refines the other."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_advisor.atoms import coarsening
from aegis_advisor.evidence.attribute import AttributeEvidence
from aegis_advisor.evidence.checks.tables import Fault, differ, places
from aegis_advisor.evidence.pair import PairCounts, named

Group = list[tuple[int, PairCounts]]
"""Tables of the same two attributes, in the same order of attributes, each with its index in the list of pairs."""


def refinement_faults(
    evidence: Sequence[AttributeEvidence], pairs: Sequence[PairCounts], sound: Sequence[int]
) -> Iterator[Fault]:
    """Faults of cells that differ from the sums of a finer table of the same two attributes.

    Each table is compared with the smallest table that refines it. The latter is compared likewise, so tables agree
    along every chain. Only the pairs with an index in `sound` are compared.
    """
    groups = _by_attributes(pairs, sound)
    used: defaultdict[int, set[str]] = defaultdict(set)
    for attributes, group in groups.items():
        for side, attribute in enumerate(attributes):
            used[attribute] |= {table.maskings[side] for _, table in group}
    nestings = {attribute: _Nesting.of(evidence[attribute], sorted(maskings)) for attribute, maskings in used.items()}
    for (first, second), group in groups.items():
        nesting = nestings[first], nestings[second]
        for place, finer in _refined(group, nesting):
            index, table = group[place]
            turned = pairs[index].attributes != table.attributes
            yield from _table_faults(group[place], group[finer], nesting, turned=turned)


@dataclass(frozen=True, slots=True, eq=False)
class _Nesting:
    """Which of an attribute's maskings in pairs are functions of others.

    Attributes:
        code: the number of each masking, by id; maskings with the same partition share a number.
        finer: by number, the numbers of all maskings that refine this one, including itself.
        outer: by a finer and a coarser masking, the coarser group (groups,) of each finer group.
    """

    code: Mapping[str, int]
    finer: Sequence[IntArray]
    outer: Mapping[tuple[str, str], IntArray]

    @classmethod
    def of(cls, evidence: AttributeEvidence, maskings: Collection[str]) -> Self:
        """Compare every two maskings; one without a mapping is a function of itself only."""
        mappings = {masking: evidence.mapping_of(masking) for masking in maskings}
        groups = {masking: evidence.groups_of(masking) for masking in maskings}
        outer = {(masking, masking): np.arange(groups[masking]) for masking in maskings}
        for finer, ours in mappings.items():
            for coarser, theirs in mappings.items():
                if finer == coarser or ours is None or theirs is None:
                    continue
                if (group_of := coarsening(ours, theirs, groups[finer])) is not None:
                    outer[finer, coarser] = group_of
        refines = np.array([[(finer, coarser) in outer for coarser in maskings] for finer in maskings])
        first = np.argmax(refines & refines.T, axis=1)
        code = dict(zip(maskings, map(int, first), strict=True))
        return cls(code, [np.intersect1d(np.flatnonzero(column), first) for column in refines.T], outer)


def _by_attributes(pairs: Sequence[PairCounts], sound: Sequence[int]) -> dict[tuple[int, int], Group]:
    """The tables of each pair of attributes with several, transposed so that the attributes are in order."""
    groups = defaultdict(list)
    for index in sound:
        pair = pairs[index]
        if pair.attributes[0] > pair.attributes[1]:
            pair = PairCounts(pair.attributes[::-1], pair.maskings[::-1], pair.joint.T)
        groups[pair.attributes].append((index, pair))
    return {attributes: group for attributes, group in groups.items() if len(group) > 1}


def _refined(group: Group, nesting: tuple[_Nesting, _Nesting]) -> Iterator[tuple[int, int]]:
    """For each table that another one refines: its index in the group, and that of the smallest table refining it.

    Tables with the same partitions are compared with the first of them, and only that one with others.
    """
    place_of: dict[tuple[int, int], int] = {}
    sizes = np.full([len(one.finer) for one in nesting], np.iinfo(np.int64).max)
    for place, (_, table) in enumerate(group):
        first, second = (one.code[masking] for one, masking in zip(nesting, table.maskings, strict=True))
        if place_of.setdefault((first, second), place) != place:
            yield place, place_of[first, second]
        else:
            sizes[first, second] = table.joint.size
    for (first, second), place in place_of.items():
        finer = nesting[0].finer[first], nesting[1].finer[second]
        others = sizes[np.ix_(*finer)]
        others[finer[0] == first, finer[1] == second] = np.iinfo(np.int64).max
        row, column = np.unravel_index(np.argmin(others), others.shape)
        if (smallest := place_of.get((int(finer[0][row]), int(finer[1][column])), place)) != place:
            yield place, smallest


def _table_faults(
    ours: tuple[int, PairCounts], theirs: tuple[int, PairCounts], nesting: tuple[_Nesting, _Nesting], *, turned: bool
) -> Iterator[Fault]:
    """Faults of cells of one table that differ from the sums of the other, which refines it."""
    (index, table), (_, finer) = ours, theirs
    rows, columns = (one.outer[finer.maskings[side], table.maskings[side]] for side, one in enumerate(nesting))
    cells = (rows[:, np.newaxis] * table.joint.shape[1] + columns).ravel()
    # The total is a count, so these sums are exact in doubles, and several times faster than sparse products.
    sums = np.bincount(cells, finer.joint.ravel(), minlength=table.joint.size)
    expected = sums.astype(np.int64).reshape(table.joint.shape)
    for place in places(table.joint != expected):
        here, there = int(table.joint[place]), int(expected[place])
        detail = differ("is", here, f"{named(finer)}, which determines it, adds up to", there)
        yield Fault((index, "joint", *(place[::-1] if turned else place)), detail)
