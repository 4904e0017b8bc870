"""Where ordered values may be cut into groups: at round numbers, whose names tell no value that few records have."""

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal, localcontext
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Places
from aegis_provider.table.values import Domain, ValueType

_DIGITS: Final = 3
"""The significant digits of a round number."""

_PRECISION: Final = 2000
"""More digits than two numbers of a table have, so that quotients by a power of ten are exact."""


def cut_where_round(domain: Domain, members: Places, frequent: NDArray[np.bool_], *, binned: bool) -> Places:
    """(n,) Numbers, from 0, of the pieces that ordered values may be cut into.

    Two neighbours are in one piece if both are rare and no round number is above the one and not above the other: one
    with three digits, or the first day of a month. A name with more digits would tell what a rare value is. Edges of
    bins are told anyway.

    Args:
        domain: The values.
        members: (n,) The places of some of them, in order.
        frequent: (n,) Whether a name may tell them.
        binned: Whether they are bins.
    """
    if binned or len(members) < 2:  # noqa: PLR2004 - one value cannot be cut
        return np.arange(len(members))
    keys = [domain.keys[place] for place in members]
    apart = _months_differ(keys) if domain.value_type is ValueType.DATE else _round_between(keys)
    return np.concatenate([[0], np.cumsum(apart | frequent[:-1] | frequent[1:])])


def _months_differ(keys: Sequence[Any]) -> NDArray[np.bool_]:
    months = np.array([12 * key.year + key.month for key in keys])
    return np.asarray(months[:-1] != months[1:])


def _round_between(keys: Sequence[Decimal | bool]) -> NDArray[np.bool_]:
    """(n - 1,) Whether a number with three digits is above each number and not above the next."""
    with localcontext(prec=_PRECISION):
        return np.array([_is_round_between(below, above) for below, above in pairwise(map(Decimal, keys))], dtype=bool)


def _is_round_between(below: Decimal, above: Decimal) -> bool:
    unit = Decimal(1).scaleb(max(abs(below), abs(above)).adjusted() - (_DIGITS - 1))
    return (above / unit).to_integral_value(ROUND_FLOOR) > (below / unit).to_integral_value(ROUND_FLOOR)
