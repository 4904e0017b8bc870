"""`round`, and `top_bottom`: top and bottom coding of numbers."""

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from aegis_provider.masking.bucketize import Bounds, name_intervals
from aegis_provider.masking.function import NumberFunction, check_above_zero, check_finite
from aegis_provider.table.arithmetic import floor_ratio, json_number, minus, numbers_of, plain, plus, times
from aegis_provider.table.values import MISSING, Domain, is_whole
from aegis_provider.yaml_file import Element

_BELOW_ALL, _ABOVE_ALL = Decimal("-Infinity"), Decimal("Infinity")


@dataclass(frozen=True)
class Round(NumberFunction):
    """The nearest multiple of `to`; halves are rounded away from zero, as people do."""

    name: ClassVar[str] = "round"
    to: Decimal

    def __post_init__(self) -> None:
        check_above_zero("to", self.to)

    @classmethod
    def read(cls, parameters: Element) -> "Round":
        """Read `{to: 10}`."""
        return cls(parameters.fields("to")["to"].positive())

    def parameters(self) -> dict[str, object]:
        """Return the unit of the masked values."""
        return {"to": json_number(self.to)}

    def mask(self, domain: Domain) -> list[str]:
        """Return each number rounded, without exponent; a missing value stays missing."""
        return [MISSING if number is None else self._rounded(number) for number in numbers_of(domain)]

    def _rounded(self, number: Decimal) -> str:
        size = number.copy_abs()
        step = floor_ratio(size, self.to)
        rest = minus(size, times(step, self.to))
        if plus(rest, rest) >= self.to:
            step = plus(step, Decimal(1))
        return plain(times(step, self.to).copy_sign(number))


@dataclass(frozen=True)
class TopBottom(NumberFunction):
    """Values of `top` or more become one value, `90+`, and values below `bottom` another, `<18`; others stay.

    Source: Hundepool et al., Statistical Disclosure Control (2012), "top and bottom coding".
    """

    name: ClassVar[str] = "top_bottom"
    top: Decimal | None = None
    bottom: Decimal | None = None

    def __post_init__(self) -> None:
        if self.top is None and self.bottom is None:
            raise ValueError("`top`, `bottom` or both are needed")
        for name, number in (("top", self.top), ("bottom", self.bottom)):
            if number is not None:
                check_finite(name, number)
        if self.top is not None and self.bottom is not None and self.bottom >= self.top:
            raise ValueError(f"`bottom` must be below `top`, but {self.bottom} is not below {self.top}")

    @classmethod
    def read(cls, parameters: Element) -> "TopBottom":
        """Read `{top: 90, bottom: 18}`, or one of them."""
        limits = {name: limit.decimal() for name, limit in parameters.fields(optional=("top", "bottom")).items()}
        return cls(limits.get("top"), limits.get("bottom"))

    def parameters(self) -> dict[str, object]:
        """Return the stated limits."""
        limits = {"top": self.top, "bottom": self.bottom}
        return {name: json_number(number) for name, number in limits.items() if number is not None}

    def mask(self, domain: Domain) -> list[str]:
        """Return each value's text, or the name of the unbounded interval it is in; a missing value stays missing."""
        whole = all(is_whole(limit) for limit in (self.top, self.bottom) if limit is not None)
        coded = name_intervals(domain, self._bounds, whole=whole)
        kept = [number is None or self._bounds(number) is None for number in numbers_of(domain)]
        return [text if stays else code for text, stays, code in zip(domain.texts, kept, coded, strict=True)]

    def _bounds(self, number: Decimal) -> Bounds | None:
        if self.top is not None and number >= self.top:
            return self.top, _ABOVE_ALL
        return (_BELOW_ALL, self.bottom) if self.bottom is not None and number < self.bottom else None
