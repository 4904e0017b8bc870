"""The domain that an entry lists: no finer than its configurations require, and without rare values.

Neither the edges nor the names of its groups reveal a value of few records, and so a single record.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_FLOOR, Decimal, localcontext
from itertools import count, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import LEAST, CountedAttribute
from aegis_provider.counting.counts import Counts, Partition, Places, common_refinement
from aegis_provider.counting.merging import (
    Values,
    View,
    cost_of_group,
    folded,
    information,
    informative_runs,
    merged_within,
)
from aegis_provider.table.arithmetic import ROUND_DIGITS, simplest
from aegis_provider.table.values import MISSING, Domain, ValueType
from aegis_sdk.printable import with_blanks

_PRECISION: Final = 2000
"""More digits than two numbers of a table together, so that quotients by a power of ten are exact."""


def cut_where_round(domain: Domain, members: Places, frequent: NDArray[np.bool_], *, binned: bool) -> Places:
    """(n,) Numbers, from 0, of the pieces that ordered values may be cut into.

    Two neighbours are in one piece if the edge between them would reveal a rare value. It does not if the upper one is
    frequent, if it is round (a number with three digits, or the first day of a month), or if it lies between the two
    and the lower one is frequent. Edges of bins are public anyway.

    Args:
        members: (n,) The places of some of them, in order.
        frequent: (n,) Whether a name may contain them.
        binned: Whether they are bins.
    """
    if binned or len(members) < 2:  # noqa: PLR2004 - one value cannot be cut
        return np.arange(len(members))
    keys = [domain.keys[place] for place in members]
    is_date = domain.value_type is ValueType.DATE
    if is_date:
        months = np.array([12 * key.year + key.month for key in keys])
        apart = months[:-1] != months[1:]
    else:  # whether a number with three digits is in (below, above]
        apart = np.zeros(len(keys) - 1, dtype=bool)
        with localcontext(prec=_PRECISION):
            for place, (below, above) in enumerate(pairwise(map(Decimal, keys))):
                unit = Decimal(1).scaleb(max(abs(below), abs(above)).adjusted() - (ROUND_DIGITS - 1))
                low, high = ((end / unit).to_integral_value(ROUND_FLOOR) for end in (below, above))
                apart[place] = high > low
    edges = [date_edge(*both) if is_date else simplest(*map(Decimal, both)) for both in pairwise(keys)]
    between = np.array([edge != above for edge, above in zip(edges, keys[1:], strict=True)])
    return np.concatenate([[0], np.cumsum(apart | frequent[1:] | (frequent[:-1] & between))])


def date_edge(low: date, high: date) -> date:
    """Return the first day of a year or else of a month between two dates, or else a day in the middle."""
    for candidate in (high.replace(month=1, day=1), high.replace(day=1)):
        if low < candidate:
            return candidate
    return low + (high - low + timedelta(days=1)) // 2


_NAMED: Final = 3
"""The most values that a name lists."""


def group_names(
    domain: Domain, members: Sequence[Places], *, binned: bool, frequent: NDArray[np.bool_]
) -> tuple[str, ...]:
    """Return a unique text for each group of values: its own text for a single frequent value.

    Other groups of neighbours among numbers, dates and bins are named by an interval that contains them. The ends of
    intervals lie between values, so that they reveal none, and are as round as possible; the first and the last
    interval have one end. Other groups are named by their `frequent` values, up to three, followed by a number if that
    name is taken.

    Args:
        members: The places of each group's values, ascending; groups in the order of their first values.
        binned: Whether the values are bins.
        frequent: (values,) whether a name may list a value.
    """
    own = [len(member) == 1 and (bool(frequent[member[0]]) or domain.texts[member[0]] == MISSING) for member in members]
    if all(own):
        return domain.texts
    ordered = binned or domain.value_type in {ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE}
    present = [
        np.array([place for place in member if domain.texts[place] != MISSING], dtype=np.intp) for member in members
    ]
    if ordered and all(not len(group) or int(group[-1] - group[0]) + 1 == len(group) for group in present):
        intervals = _intervals(domain, present, binned=binned)
        names = (
            f"{name} or missing" if 0 < len(known) < len(member) else name
            for member, known, name in zip(members, present, intervals, strict=True)
        )
        named = zip(members, own, names, strict=True)
        return tuple(domain.texts[each[0]] if is_own else name for each, is_own, name in named)
    listed: dict[str, None] = {}
    numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(1))
    for member, is_own in zip(members, own, strict=True):
        text = _listed(domain, member, frequent)
        candidates = (text if number == 1 else f"{text} ({number})" for number in numbers[text])
        free = (name for name in candidates if name not in listed and name not in domain.places)
        listed[domain.texts[member[0]] if is_own else next(free)] = None
    return tuple(listed)


def _intervals(domain: Domain, groups: Sequence[Places], *, binned: bool) -> list[str]:
    """Return the interval of each group of neighbours; a group without values is that of missing ones."""
    order = sorted((place for place, group in enumerate(groups) if len(group)), key=lambda place: int(groups[place][0]))
    edges = []
    for one, other in pairwise(order):
        before, after = int(groups[one][-1]), int(groups[other][0])
        if binned:  # between the end of one bin and the beginning of the next; the two may be equal
            end, begin = domain.texts[before].partition(",")[2][:-1], domain.texts[after].partition(",")[0][1:]
            edges.append(begin if end == begin else f"{simplest(Decimal(end), Decimal(begin)):f}")
        elif domain.value_type is ValueType.DATE:
            edges.append(date_edge(domain.keys[before], domain.keys[after]).isoformat())
        else:
            edges.append(f"{simplest(domain.keys[before], domain.keys[after]):f}")
    names = [MISSING] * len(groups)
    for place, (low, high) in zip(order, pairwise([None, *edges, None]), strict=True):
        names[place] = f"{'(-inf' if low is None else f'[{low}'},{high or 'inf'})"
    return names


def _listed(domain: Domain, members: Places, frequent: NDArray[np.bool_]) -> str:
    """Return the frequent values of a group, and whether it has others.

    The number of others stays hidden: in a column of nearly unique values, it is a number of records.
    """
    named = with_blanks if len(members) > 1 else str  # a single value has its own text
    told = [named(domain.texts[place]) or "missing" for place in members if frequent[place]]
    rest = ["others" if told else "rare values"] * (len(told[:_NAMED]) < len(members))
    return " or ".join([*told[:_NAMED], *rest])


RECORDS_PER_CELL: Final = 10
"""The lowest mean of the pair counts of two unmasked attributes: rounding to 5 then adds less error than chance."""


@dataclass(frozen=True, eq=False)
class PublishedDomain:
    """The values of an attribute that an entry lists.

    Attributes:
        partition: The listed value of each value of the table.
    """

    texts: tuple[str, ...]
    partition: Partition

    @classmethod
    def exact(cls, domain: Domain) -> "PublishedDomain":
        """List every value."""
        return cls(domain.texts, Partition.identity(len(domain)))

    @classmethod
    def coarsest(
        cls,
        counted: CountedAttribute,
        shared: Sequence[Partition],
        *,
        unmasked: bool,
        binned: bool,
        least: int = 0,
    ) -> "PublishedDomain":
        """List the coarsest domain that the shared maskings need.

        Values that no shared masking separates are merged. If the attribute is shared unmasked, values with at least
        `least_records` stay separate; the others are merged with values that all shared maskings treat alike:
        neighbours if the values are ordered.

        Args:
            shared: The partitions of its values by the maskings that configurations use.
            unmasked: Whether a configuration needs its single values.
            binned: Whether the values are bins.
            least: The smallest count of a listed value and a label value, apart from 0; values that all shared maskings
                treat alike must have as many. Names reveal no value with fewer records.
        """
        domain, values = counted.domain, Values.of(counted.domain, binned=binned)
        atoms = _atoms(domain, shared)
        listed = listed_values(counted, shared, binned=binned) if unmasked else Partition.of(atoms.groups)
        view = View(listed, counted.counts.fold(listed.groups, listed.size))
        listed = merged_within(view, atoms, least, values).partition
        members = [np.flatnonzero(listed.groups == group) for group in range(listed.size)]
        frequent = (counted.people >= LEAST) & (counted.counts.histogram() >= least)
        names = group_names(domain, members, binned=binned, frequent=frequent)
        return cls(names, listed)

    def averages(self, transition: NDArray[np.float64]) -> NDArray[np.float64]:
        """(listed values, masked) The mean of the rows (values, masked) of each listed value, all with equal weight."""
        sums = np.zeros((self.partition.size, transition.shape[1]))
        np.add.at(sums, self.partition.groups, transition)
        return sums / np.bincount(self.partition.groups)[:, np.newaxis]


def listed_values(counted: CountedAttribute, shared: Sequence[Partition], *, binned: bool) -> Partition:
    """Return the default groups of listed values of an attribute that is shared unmasked.

    Args:
        shared: The partitions of its values by the maskings that configurations use.
        binned: Whether the values are bins.
    """
    domain, joint = counted.domain, counted.counts.dense()
    least = least_records(int(joint.sum()), counted.rows)
    atoms = _atoms(domain, shared)
    return Partition.of(merged_values(domain, joint, atoms, least, binned=binned, fewest=counted.least).groups)


def _atoms(domain: Domain, shared: Sequence[Partition]) -> Partition:
    """Return the groups of values that no shared masking separates."""
    return common_refinement([Partition(np.zeros(len(domain), dtype=np.intp), 1), *shared])


def least_records(records: int, rows: int = 1) -> int:
    """Return the fewest records of a listed value of an attribute that is shared unmasked, `rows` of a person at most.

    If all values of two attributes have this number of records, the mean of their pair counts is `RECORDS_PER_CELL`: `N
    / (N / least)^2`.
    """
    return max(LEAST * rows, math.ceil(math.sqrt(RECORDS_PER_CELL * records)))


def merged_values(
    domain: Domain, joint: Counts, atoms: Partition, least: int, *, binned: bool, fewest: int = LEAST
) -> Partition:
    """Split atoms into groups of values that retain most information on the label.

    A group has at least `least` records, or at least `fewest` and more information than chance explains. Ordered values
    are merged with neighbours and cut at round numbers. Unordered ones with too few records are one group.

    Args:
        joint: (values, labels) Their joint counts.
        atoms: The groups to split.
        least: The fewest records of a group without such information.
        binned: Whether the values are bins.
        fewest: The fewest records of a group; none needs more than `least`.
    """
    groups, following, fewest = np.empty(len(domain), dtype=np.intp), count(), min(fewest, least)
    ordered = Values.of(domain, binned=binned).ordered
    for atom in range(atoms.size):
        members = np.flatnonzero(atoms.groups == atom)
        missing = [place for place in members if domain.texts[place] == MISSING]
        present = members[len(missing) :]
        counts = joint[present]
        if ordered:
            pieces = cut_where_round(domain, present, counts.sum(axis=1) >= fewest, binned=binned)
            split = []
            if len(present):
                runs = informative_runs(folded(counts, pieces), least, fewest)[pieces]
                split = [present[runs == run] for run in range(int(runs.max()) + 1)]
        else:
            split = _distinct(present, counts, least, fewest)
        for group in split:
            groups[group] = next(following)
        if missing:
            groups[missing] = next(following)
    return Partition(groups, next(following))


def _distinct(members: Places, joint: Counts, least: int, fewest: int) -> list[Places]:
    """Separate unordered values that are common or much more informative than the rare ones, which form one group.

    If that has fewer than `least` records, the rarest other value joins it.
    """
    records = joint.sum(axis=1)
    rare = records < least
    others = joint[rare].sum(axis=0)
    told = information(joint[rare]) + information(others - joint[rare]) - information(others[np.newaxis])
    rare[rare] = (records[rare] < fewest) | (told <= cost_of_group(joint))
    alone = np.flatnonzero(~rare)
    if len(alone) and 0 < records[rare].sum() < least:
        rare[alone[records[alone].argmin()]] = True
    return [*members[~rare, np.newaxis], *([members[rare]] if rare.any() else [])]
