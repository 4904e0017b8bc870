"""Checks of pair counts against the evidence on each attribute, and against each other where one refines the other."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Self

import numpy as np

from aegis_advisor.arrays import IntArray, fold
from aegis_advisor.atoms import coarsening
from aegis_advisor.evidence.attribute import IDENTITY, AttributeEvidence, masked_records
from aegis_advisor.evidence.checks.attributes import declaration_faults, multiple_faults
from aegis_advisor.evidence.checks.tables import (
    LARGEST_COUNT,
    Allowance,
    Fault,
    Path,
    column_faults,
    count_faults,
    differ,
    is_summable,
    label_allowances,
    places,
    row_faults,
    total_faults,
)
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
            yield from _agreement_faults(group[place], group[finer], nesting, turned=turned)


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


def _agreement_faults(
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


MOST_FAULTS = 100
"""The most faults returned: with tens of thousands of faulty tables, nobody reads them all."""


Place = tuple[int, str]
"""An attribute, by its index in the evidence, and one of its maskings, by id or `identity`."""


@dataclass(frozen=True, slots=True, eq=False)
class MaskedMargin:
    """The records of each masked value.

    Attributes:
        counts: (groups,) int64.
        source: their origin, in words.
        slack: the most by which a count may differ from that of the provider's table.
    """

    counts: IntArray
    source: str
    slack: int = 0


@dataclass(slots=True)
class MaskedMargins:
    """The margin of each masking: from its attribute's evidence, else from the first pair that has it."""

    evidence: Sequence[AttributeEvidence]
    _known: dict[Place, MaskedMargin | None] = field(default_factory=dict)

    def of(self, place: Place) -> MaskedMargin | None:
        """The margin, if it is known so far."""
        if place not in self._known:
            self._known[place] = _known_margin(self.evidence[place[0]], place[1])
        return self._known[place]

    def learn(self, place: Place, margin: MaskedMargin) -> None:
        """Store the margin of a pair, unless one is known."""
        if self.of(place) is None:
            self._known[place] = margin

    def faults(self, path: Path, place: Place, counts: IntArray) -> Iterator[Fault]:
        """Faults of counts (groups,) without a known margin of their own, against the margins of nesting maskings."""
        evidence = self.evidence[place[0]]
        mapping = evidence.mapping_of(place[1])
        if mapping is None:
            return
        reached = np.bincount(mapping, minlength=counts.size) > 0
        for (group,) in places(~reached & (counts > 0)):
            what = f"no value is mapped to masked value {group} of {place[1]!r}"
            yield Fault(path, f"{what}, yet it counts {counts[group]} records")
        for other in (IDENTITY, *(masking.id for masking in evidence.maskings)):
            known, theirs = self.of((place[0], other)), evidence.mapping_of(other)
            if known is not None and theirs is not None:
                names = place[1], other
                yield from _nesting_faults(path, names, (mapping, theirs), counts, known)


def find_pair_faults(evidence: Sequence[AttributeEvidence], pairs: Sequence[PairCounts]) -> tuple[Fault, ...]:
    """Find the first 100 inconsistencies of pair counts; paths start at the list of pairs.

    The evidence must have no faults, and the attributes and maskings of the pairs must exist. Arrays may contain any
    integers and have any shape. Tables that pass all comparisons may still admit no table of all attributes. Such
    evidence is accepted.
    """
    return tuple(islice(_all_faults(evidence, pairs), MOST_FAULTS))


def _all_faults(evidence: Sequence[AttributeEvidence], pairs: Sequence[PairCounts]) -> Iterator[Fault]:
    margins, sound = MaskedMargins(evidence), list[int]()
    for index, pair in enumerate(pairs):
        wrong = [*_table_faults(margins, index, pair)]
        yield from wrong
        if not wrong and pair.perturbation.is_none:  # inexact counts need not agree with each other
            sound.append(index)
    yield from refinement_faults(evidence, pairs, sound)


def _table_faults(margins: MaskedMargins, index: int, pair: PairCounts) -> Iterator[Fault]:
    """Faults of a single table; the margins of a table without faults become known."""
    sides = tuple(zip(pair.attributes, pair.maskings, strict=True))
    shape, least = tuple(margins.evidence[a].groups_of(m) for a, m in sides), 0
    malformed = [*declaration_faults((index,), pair.perturbation)]
    if pair.perturbation.is_none:
        malformed += _inexact_faults(margins.evidence, index, pair)
    elif pair.perturbation.noise_scale is not None:
        least = -LARGEST_COUNT
    malformed += count_faults((index, "joint"), pair.joint, shape, least)
    malformed += [] if malformed else multiple_faults((index, "joint"), pair.joint, pair.perturbation)
    yield from malformed
    if malformed:
        return
    wrong = [*_total_faults((index, "joint"), pair, margins.evidence)]
    if is_summable(pair.joint):  # otherwise only the fault in the total is reported
        wrong += _margin_faults(margins, index, pair)
    yield from wrong
    if not wrong and pair.perturbation.is_none:
        for axis, side in enumerate(sides):
            margins.learn(side, MaskedMargin(pair.joint.sum(axis=1 - axis), f"{named(pair)} counts"))


def _total_faults(path: Path, pair: PairCounts, evidence: Sequence[AttributeEvidence]) -> Iterator[Fault]:
    """A fault unless the counts add up to the number of records, as far as it is known."""
    known = next((evidence[place] for place in pair.attributes if evidence[place].knows_label), evidence[0])
    own = pair.perturbation.slack(pair.joint.size, 1) + known.rounding.slack(known.labels, 1)
    _, whole = label_allowances(evidence[0])
    slack = own + (0 if known.knows_label else whole.above)
    yield from total_faults(
        path, pair.joint, known.records, Allowance(slack, slack, masked=not pair.perturbation.is_none)
    )


def _inexact_faults(evidence: Sequence[AttributeEvidence], index: int, pair: PairCounts) -> Iterator[Fault]:
    """Faults of exact pair counts of a masking with inexact counts.

    Exact pair counts would disclose what the inexact counts hide, and contradict them.
    """
    for side, (attribute, masking) in enumerate(zip(pair.attributes, pair.maskings, strict=True)):
        if masking != IDENTITY and not evidence[attribute].masking(masking).perturbation.is_none:
            detail = (
                f"the counts of {masking!r} are declared inexact (noise, rounded_to or records), but pair counts are "
                "exact and would disclose what the declaration hides"
            )
            yield Fault((index, "maskings", side), detail)


def _margin_faults(margins: MaskedMargins, index: int, pair: PairCounts) -> Iterator[Fault]:
    """Faults of rows and columns that differ from the known margin of their masking."""
    path, (first, second) = (index, "joint"), zip(pair.attributes, pair.maskings, strict=True)
    rows, columns = margins.of(first), margins.of(second)
    if not pair.perturbation.is_none:
        for axis, margin in enumerate((rows, columns)):
            if margin is not None:
                yield from _inexact_margin_faults(path, pair, axis, margin)
            elif pair.perturbation.within is not None:
                yield from _unknown_sum_faults(margins.evidence, path, pair, axis)
        return
    if rows is None:
        yield from margins.faults(path, first, pair.joint.sum(axis=1))
    else:
        yield from row_faults(path, pair.joint, rows.counts, rows.source)
    if columns is None:
        yield from margins.faults(path, second, pair.joint.sum(axis=0))
    else:
        yield from column_faults(path, pair.joint, columns.counts, source=columns.source)


def _inexact_margin_faults(path: Path, pair: PairCounts, axis: int, margin: MaskedMargin) -> Iterator[Fault]:
    """Faults of rows (axis 0) or columns of inexact counts beyond what is declared.

    Masked values that are counted together are compared as one, at the place where they are counted. Counts declared to
    add up to the published sums must do so exactly.
    """
    table, expected, slack = pair.joint if axis == 0 else pair.joint.T, margin.counts, margin.slack
    if pair.counted_with is not None:
        together = pair.counted_with[axis]
        expected = fold(expected[:, np.newaxis], together, expected.size)[:, 0]
        slack *= int(np.bincount(together).max())
    if pair.perturbation.within is None:
        slack += pair.perturbation.slack(table.shape[1], table.shape[0])
    else:
        slack = 0
    allowed = Allowance(slack, slack, masked=True)
    if axis == 0:
        yield from row_faults(path, pair.joint, expected, margin.source, allowed)
    else:
        yield from column_faults(path, pair.joint, expected, allowed, margin.source)


def _unknown_sum_faults(
    evidence: Sequence[AttributeEvidence], path: Path, pair: PairCounts, axis: int
) -> Iterator[Fault]:
    """A fault if counts claim to add up to sums of rows (axis 0) or columns that are not published.

    All records may be counted together: their sum is published with the label.
    """
    if pair.counted_with is None or len(np.unique(pair.counted_with[axis])) > 1:
        detail = f"they say `within`, but the records of the masked values of {pair.maskings[axis]!r} are not published"
        yield Fault(path, detail)
    elif int(pair.joint.sum()) != evidence[0].records:
        yield Fault(path, differ("adds up to", int(pair.joint.sum()), "the label counts", evidence[0].records))


def _nesting_faults(
    path: Path, names: tuple[str, str], mappings: tuple[IntArray, IntArray], counts: IntArray, known: MaskedMargin
) -> Iterator[Fault]:
    """Faults of groups of the coarser of two mappings (values,) with different counts; none if they do not nest."""
    ours, theirs, coarser = counts, known.counts, names[1]
    if (outer := coarsening(*mappings, ours.size)) is not None:
        ours = fold(ours, outer, theirs.size)
    elif (outer := coarsening(*mappings[::-1], theirs.size)) is not None:
        theirs, coarser = fold(theirs, outer, ours.size), names[0]
    else:
        return
    for (group,) in places(ours != theirs):
        sum_of = f"masked value {group} of {coarser!r} adds up to"
        yield Fault(path, differ(sum_of, int(ours[group]), known.source, int(theirs[group])))


def _known_margin(evidence: AttributeEvidence, masking: str) -> MaskedMargin | None:
    """The records (groups,) of each masked value by the attribute's own evidence, or None if that is unknown."""
    counts = masked_records(evidence, masking)
    if counts is None:
        return None
    # Rounded counts of a value are sums over the label's values, and those of a masked value over its values, too.
    rounded = evidence.rounding.slack(evidence.labels, 1)
    if masking == IDENTITY:
        source = "the unmasked counts add up to" if evidence.histogram is None else "the histogram counts"
        return MaskedMargin(counts, source, rounded)
    known = evidence.masking(masking)
    slack = known.perturbation.slack(evidence.labels, known.groups)
    if known.perturbation.is_none:
        slack += rounded * (1 if known.mapping is None else int(np.bincount(known.mapping).max(initial=1)))
    if known.joint is not None and known.perturbation.is_complete:
        return MaskedMargin(counts, f"the counts of {masking!r} add up to", slack)
    return MaskedMargin(counts, "the histogram of its values counts", slack)
