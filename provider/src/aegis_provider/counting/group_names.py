"""Names of groups of values that reveal no rare value, and so no single record."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import count, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Places
from aegis_provider.counting.round_edges import date_edge
from aegis_provider.table.arithmetic import simplest
from aegis_provider.table.values import MISSING, Domain, ValueType
from aegis_sdk.printable import with_blanks

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
        domain: The values.
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
        edge = _bin_edge if binned else _date_edge if domain.value_type is ValueType.DATE else _number_edge
        intervals = _intervals(domain, present, edge)
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


def _intervals(domain: Domain, groups: Sequence[Places], edge: Callable[[Domain, int, int], str]) -> list[str]:
    """Return the interval of each group of neighbours; a group without values is that of missing ones."""
    order = sorted((place for place, group in enumerate(groups) if len(group)), key=lambda place: int(groups[place][0]))
    edges = [edge(domain, int(groups[one][-1]), int(groups[other][0])) for one, other in pairwise(order)]
    names = [MISSING] * len(groups)
    for place, (low, high) in zip(order, pairwise([None, *edges, None]), strict=True):
        names[place] = f"{'(-inf' if low is None else f'[{low}'},{high or 'inf'})"
    return names


def _number_edge(domain: Domain, before: int, after: int) -> str:
    return f"{simplest(domain.keys[before], domain.keys[after]):f}"


def _date_edge(domain: Domain, before: int, after: int) -> str:
    return date_edge(domain.keys[before], domain.keys[after]).isoformat()


def _bin_edge(domain: Domain, before: int, after: int) -> str:
    """Return a number between the end of one bin and the beginning of the next; the two may be equal."""
    end, begin = domain.texts[before].partition(",")[2][:-1], domain.texts[after].partition(",")[0][1:]
    return begin if end == begin else f"{simplest(Decimal(end), Decimal(begin)):f}"


def _listed(domain: Domain, members: Places, frequent: NDArray[np.bool_]) -> str:
    """Return the frequent values of a group, and whether it has others.

    The number of others stays hidden: in a column of nearly unique values, it is a number of records.
    """
    named = with_blanks if len(members) > 1 else str  # a single value has its own text
    told = [named(domain.texts[place]) or "missing" for place in members if frequent[place]]
    rest = ["others" if told else "rare values"] * (len(told[:_NAMED]) < len(members))
    return " or ".join([*told[:_NAMED], *rest])
