"""Numbers as people read them: three digits that mean something, and no exponent where a plain number will do."""

from aegis_sdk.printable import Share

_VAST = 1e100
_THOUSAND = 1_000
_LONGEST_WHOLE = 1e15
SPACE = "\N{NO-BREAK SPACE}"
DASH = "\N{EN DASH}"
"""What a cell without a number shows."""


def drawable(number: float) -> bool:
    """Whether the number has a place on an axis: it is finite, and not vast."""
    return -_VAST <= number <= _VAST


def number(value: float) -> str:
    """Three digits of the number, all digits of a whole one: `0.0303`, `12,345`, `1.2e-7`."""
    if float(value).is_integer() and abs(value) < _LONGEST_WHOLE:
        return f"{value:,.0f}"
    if _THOUSAND <= abs(value) < _LONGEST_WHOLE:
        return f"{value:,.0f}"
    text = f"{value:.3g}"
    digits, _, exponent = text.partition("e")
    return f"{digits}e{int(exponent)}" if exponent else text


def percent(share: float) -> str:
    """The share in percent; `0 %` and `100 %` only of exactly nothing and all."""
    return str(Share(share)).replace(" ", SPACE)


def place(share: float) -> str:
    """A place on an axis as an SVG length, from `0%` to `100%`."""
    return f"{round(100 * share, 2):g}%"


def pixels(length: float) -> str:
    """A length in pixels, to a tenth."""
    return f"{round(length, 1):g}"
