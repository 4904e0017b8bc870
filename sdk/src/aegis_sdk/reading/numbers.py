"""Numbers for people: significant digits, separated thousands, and an exponent only if needed."""

from typing import Final

_LONGEST_WHOLE: Final = 1e15
DASH: Final = "\N{EN DASH}"
"""The text of a cell without a number."""
_PERCENT: Final = 0.01
_TENTH_OF_A_PERCENT: Final = 0.001
# Sums of shares may be slightly below 1.
_ALL: Final = 1 - 1e-9


class Share(float):
    """A share with a text in percent: `0 %` and `100 %` only for exactly nothing and all."""

    def __str__(self) -> str:
        if 0 < self < _TENTH_OF_A_PERCENT:
            return "< 0.1 %"
        if 1 - _TENTH_OF_A_PERCENT / 2 <= self < _ALL:
            return "> 99.9 %"
        digits = 3 if abs(self) >= 0.1 else 2  # noqa: PLR2004 - two digits suffice
        return f"{float(f'{100 * self:.{digits}g}'):,g} %"

    @property
    def whole(self) -> str:
        """The share in whole percent, or `< 1 %` and `> 99 %`."""
        if 0 < self < _PERCENT:
            return "< 1 %"
        return "> 99 %" if 1 - _PERCENT / 2 <= self < _ALL else f"{100 * self:,.0f} %"


def share_with_limits(value: float, low: float, high: float) -> str | None:
    """A share of a table's utility with its interval: `81 % (78 to 84 %)`.

    None if the interval covers everything from nothing to all, as for a table of almost no utility. Negative shares
    become 0.
    """
    if low <= 0 and high >= 1:
        return None
    said, least, most = (Share(max(0.0, each)).whole for each in (value, low, high))
    return f"{said} ({least.removesuffix(' %')} to {most})"


def number(value: float, digits: int = 3) -> str:
    """The number to some significant digits, a whole one with all its digits: `0.0303`, `12,345`, `1.2e-7`.

    Args:
        digits: The largest number of significant digits; all digits before the point are always shown.
    """
    text = f"{value:,.{digits}g}"
    mantissa, _, exponent = text.partition("e")
    if abs(value) < _LONGEST_WHOLE and (float(value).is_integer() or (exponent and abs(value) >= 1)):
        return f"{value:,.0f}"
    return f"{mantissa}e{int(exponent)}" if exponent else text


def percent(share: float) -> str:
    """The share in percent: `0 %` and `100 %` only for exactly nothing and all."""
    return str(Share(share)).replace(" ", "\N{NO-BREAK SPACE}")
