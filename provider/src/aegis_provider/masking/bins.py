"""Masking functions of numbers, applied to bins of numbers."""

from decimal import Decimal

from aegis_provider.errors import UnmaskableValueError
from aegis_provider.masking import (
    EdgeBuckets,
    EqualBuckets,
    IntervalHierarchy,
    MaskingFunction,
    Round,
    TopBottom,
)
from aegis_provider.table.arithmetic import minus
from aegis_provider.table.discretization.reading import Binned
from aegis_provider.table.values import MISSING, Domain, ValueType

_OF_NUMBERS = (EqualBuckets, EdgeBuckets, IntervalHierarchy, Round, TopBottom)

# Beyond and below every number that a plan can state.
_HUGE = Decimal("1e1500")
_TINY = Decimal("1e-1500")


def mask_bins(function: MaskingFunction, domain: Domain, reading: Binned) -> list[str]:
    """The masked text of each bin. A function of numbers has to mask both ends of a bin alike.

    Raises `UnmaskableValueError` for a bin that it would cut, and for one that has no masked value.
    """
    if not isinstance(function, _OF_NUMBERS):
        return function.mask(domain)
    lowest, highest = (function.mask(each) for each in ends_of(domain, reading))
    for text, low, high in zip(domain.texts, lowest, highest, strict=True):
        if low != high:
            raise UnmaskableValueError(text, _cut(function.name, low, high))
    return lowest


def ends_of(domain: Domain, reading: Binned) -> tuple[Domain, Domain]:
    """The bins as numbers: the least number of each, and one just below its upper end."""
    bounds = [None if text == MISSING else reading.bounds_of(text) for text in domain.texts]
    low = [None if each is None else max(each[0], -_HUGE) for each in bounds]
    high = [None if each is None else minus(min(each[1], _HUGE), _TINY) for each in bounds]
    texts, places = domain.texts, domain.places
    return Domain(ValueType.NUMBER, texts, tuple(low), places), Domain(ValueType.NUMBER, texts, tuple(high), places)


def _cut(name: str, low: str, high: str) -> str:
    ends = " and ".join(repr(text) for text in (low, high) if len(text) < len(str(_HUGE)) * 10)
    return f"is a bin that {name} would cut: {ends} would share it; let its edges be edges of the bins"
