"""The scores that make a label a number to predict."""

import re
from collections.abc import Iterator, Sequence
from math import hypot
from typing import Annotated

from pydantic import Field

from aegis_sdk.wire.documents import LONG_LIST, Fault, Request
from aegis_sdk.wire.values import COUNT_MAX, ClassScore


def length_fault(field: str, given: int, expected: int, unit: str) -> Iterator[Fault]:
    """A fault of the field if its length is not the expected one."""
    if given != expected:
        yield (field,), f"Has {given} {unit}, but the domain has {expected} values"


class Scores(Request):
    """The scores of a label's classes, which make it a number to predict: bins of numbers, or ordered classes."""

    values: Annotated[list[ClassScore], Field(min_length=1), LONG_LIST] = Field(
        description="The score of each class, in the order of `domain`: of a bin, its middle or its mean to two digits"
    )
    variance: Annotated[float, Field(ge=0, le=float(COUNT_MAX) ** 2, allow_inf_nan=False)] | None = Field(
        default=None,
        description="Variance of the number itself, to two digits: that of the scores, and what is lost by binning. "
        "null: not known, or the classes are all there is",
    )

    def faults_for(self, histogram: Sequence[int], domain: Sequence[str]) -> Iterator[Fault]:
        """The faults for a label with this domain; `histogram` is empty if it is not published.

        A score lies within its bin, if the value is one. The variance of the number is at least that of its bins'
        means; numbers to two digits may be off by a tenth.
        """
        yield from length_fault("values", len(self.values), len(domain), "scores")
        for place, (value, text) in enumerate(zip(self.values, domain, strict=False)):
            if (bounds := _bin(text)) is not None and not bounds[0] <= value <= bounds[1]:
                yield ("values", place), f"Is outside its bin, {text}"
        records = sum(histogram)
        if self.variance is None or records <= 0 or not len(self.values) == len(histogram) == len(domain):
            return
        # Divided first, so that no product overflows.
        mean = sum(value * (count / records) for value, count in zip(self.values, histogram, strict=True))
        between = hypot(
            *((value - mean) * (count / records) ** 0.5 for value, count in zip(self.values, histogram, strict=True))
        )
        if self.variance**0.5 < between * (1 - _DIGITS):
            yield ("variance",), f"Is less than {between**2:.3g}, the variance of the scores themselves"


def _bin(text: str) -> tuple[float, float] | None:
    """The ends of a bin, such as `[0.5,1.0)` or `(-inf,0.5)`; `None` if a value is none."""
    found = _BIN.fullmatch(text)
    return None if found is None else (float(found[1]), float(found[2]))


_NUMBER = r"-?[0-9]{1,400}(?:[.][0-9]{1,400})?"
_BIN = re.compile(rf"[\[(](-inf|{_NUMBER}),(inf|{_NUMBER})\)")
_DIGITS = 0.1
