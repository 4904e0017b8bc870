"""The permitted cuts of ordered values into groups: edges that reveal no value of few records."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import ROUND_FLOOR, Decimal, localcontext
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Places
from aegis_provider.table.arithmetic import ROUND_DIGITS, simplest
from aegis_provider.table.values import Domain, ValueType

_PRECISION: Final = 2000
"""More digits than two numbers of a table together, so that quotients by a power of ten are exact."""


def cut_where_round(domain: Domain, members: Places, frequent: NDArray[np.bool_], *, binned: bool) -> Places:
    """(n,) Numbers, from 0, of the pieces that ordered values may be cut into.

    Two neighbours are in one piece if the edge between them would reveal a rare value. It does not if the upper one is
    frequent, if it is round (a number with three digits, or the first day of a month), or if it lies between the two
    and the lower one is frequent. Edges of bins are public anyway.

    Args:
        domain: The values.
        members: (n,) The places of some of them, in order.
        frequent: (n,) Whether a name may contain them.
        binned: Whether they are bins.
    """
    if binned or len(members) < 2:  # noqa: PLR2004 - one value cannot be cut
        return np.arange(len(members))
    keys = [domain.keys[place] for place in members]
    is_date = domain.value_type is ValueType.DATE
    apart = _months_differ(keys) if is_date else _round_between(keys)
    edges = [date_edge(*both) if is_date else simplest(*map(Decimal, both)) for both in pairwise(keys)]
    between = np.array([edge != above for edge, above in zip(edges, keys[1:], strict=True)])
    return np.concatenate([[0], np.cumsum(apart | frequent[1:] | (frequent[:-1] & between))])


def date_edge(low: date, high: date) -> date:
    """Return the first day of a year or else of a month between two dates, or else a day in the middle."""
    for candidate in (high.replace(month=1, day=1), high.replace(day=1)):
        if low < candidate:
            return candidate
    return low + (high - low + timedelta(days=1)) // 2


def _months_differ(keys: Sequence[Any]) -> NDArray[np.bool_]:
    months = np.array([12 * key.year + key.month for key in keys])
    return np.asarray(months[:-1] != months[1:])


def _round_between(keys: Sequence[Decimal | bool]) -> NDArray[np.bool_]:
    """(n - 1,) Whether a number with three digits is above each number and not above the next."""
    with localcontext(prec=_PRECISION):
        return np.array([_is_round_between(below, above) for below, above in pairwise(map(Decimal, keys))], dtype=bool)


def _is_round_between(below: Decimal, above: Decimal) -> bool:
    unit = Decimal(1).scaleb(max(abs(below), abs(above)).adjusted() - (ROUND_DIGITS - 1))
    return (above / unit).to_integral_value(ROUND_FLOOR) > (below / unit).to_integral_value(ROUND_FLOOR)
