"""Names of groups of values that tell no rare value, and so no single record."""

from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, Decimal, localcontext
from itertools import count, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Places
from aegis_provider.table.arithmetic import interval_name
from aegis_provider.table.values import MISSING, Domain, ValueType

_NAMED: Final = 3
"""The most values that a name lists."""

_DIGITS: Final = 2000
"""The precision of edges, more than the digits of two numbers of a table."""


def group_names(
    domain: Domain, members: Sequence[Places], *, binned: bool, frequent: NDArray[np.bool_]
) -> tuple[str, ...]:
    """Return a unique text for each group of values. A group of one value has the text of the value.

    Groups of neighbours among numbers, dates and bins are named by the interval that holds them. The ends of intervals
    lie between values, so that they tell none, and have as few digits as possible. Other groups are named by their
    `frequent` values, up to three.

    Args:
        domain: The values.
        members: The places of each group's values, ascending; groups in the order of their first values.
        binned: Whether the values are bins.
        frequent: (values,) whether a name may list a value.
    """
    if all(len(each) == 1 for each in members):
        return domain.texts
    consecutive = all(int(each[-1] - each[0]) + 1 == len(each) for each in members)
    if binned and consecutive:
        return tuple(_joined(domain.texts[each[0]], domain.texts[each[-1]]) for each in members)
    if domain.value_type in {ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE} and consecutive:
        return tuple(_intervals(domain, members))
    names: list[str] = []
    for each in members:
        names.append(_listed(domain, each, names, frequent))
    return tuple(names)


def _joined(first: str, last: str) -> str:
    """Return the interval from the beginning of one bin to the end of another."""
    return first if first == last else f"{first.partition(',')[0]},{last.partition(',')[2]}"


def _intervals(domain: Domain, members: Sequence[Places]) -> Iterator[str]:
    """Yield the interval of each group of neighbours; a single value keeps its text."""
    present = [each for each in members if domain.texts[each[0]] != MISSING]
    yield from [MISSING] * (len(members) - len(present))
    is_date = domain.value_type is ValueType.DATE
    edges = [_edge(domain, before[-1], after[0]) for before, after in pairwise(present)]
    for each, (low, high) in zip(present, pairwise([None, *edges, None]), strict=True):
        if len(each) == 1:
            yield domain.texts[each[0]]
        elif is_date:
            yield f"{'(-inf' if low is None else f'[{low}'},{high or 'inf'})"
        else:
            yield interval_name(Decimal(low or "-inf"), Decimal(high or "inf"))


def _edge(domain: Domain, before: int, after: int) -> str:
    """Return where the group that begins at `after` begins; for dates, at its first one."""
    if domain.value_type is ValueType.DATE:
        return domain.texts[after]
    return f"{simplest(domain.keys[before], domain.keys[after]):f}"


def simplest(below: Decimal, above: Decimal) -> Decimal:
    """Return the number with the fewest digits that is above the first number and not above the second."""
    exponent = max(below.adjusted(), above.adjusted()) + 1
    with localcontext(prec=_DIGITS):
        while (candidate := _next_multiple(below, Decimal(1).scaleb(exponent))) > above:
            exponent -= 1
    return candidate


def _next_multiple(below: Decimal, unit: Decimal) -> Decimal:
    """Return the least multiple of a unit that is above a number."""
    multiple = (below / unit).to_integral_value(ROUND_CEILING) * unit
    return multiple + unit if multiple == below else multiple


def _listed(domain: Domain, members: Places, names: Sequence[str], frequent: NDArray[np.bool_]) -> str:
    """Return the frequent values of a group and the number of its others; followed by a number if that is taken."""
    texts = [domain.texts[place] or "missing" for place in members]
    if len(texts) == 1:
        return str(domain.texts[members[0]])
    told = [text for text, place in zip(texts, members, strict=True) if frequent[place]][:_NAMED]
    others = len(texts) - len(told)
    if others:
        other = " other" if told else ""
        told.append(f"{others}{other} value{'s' * (others > 1)}")
    text = " or ".join(told)
    candidates = (text if number == 1 else f"{text} ({number})" for number in count(1))
    free: str = next(each for each in candidates if each not in names and each not in domain.places)
    return free
