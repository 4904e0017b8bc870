"""Numbers and texts for people: significant digits, and texts of an entry made safe for a terminal.

Nothing here moves a cursor, colours a text or breaks a line.
"""

from collections.abc import Sequence
from typing import Final

_LONGEST = 28
_LONGEST_LINE = 500
_LEFT_OUT = " ... "


def shown(text: str, longest: int = _LONGEST) -> str:
    """The text with unprintable characters escaped, cut to `longest` characters; `""` for the empty text.

    A text with leading or trailing blanks is quoted.
    """
    printable = with_blanks(text if text.isprintable() else "".join(map(_escaped, text)))
    if len(printable) > longest:
        printable = f"{printable[: longest - 1]}…"
    return printable or '""'


def with_blanks(text: str) -> str:
    """The text, quoted if it has leading or trailing blanks, to make them visible: `"Vienna "` is not Vienna."""
    return text if text == text.strip() else f'"{text}"'


def one_line(text: str) -> str:
    """A message on one line, with unprintable characters escaped; a long one is cut in the middle."""
    line = "".join(map(_escaped, " ".join(text.split())))
    if len(line) <= _LONGEST_LINE:
        return line
    kept = (_LONGEST_LINE - len(_LEFT_OUT)) // 2
    return f"{line[:kept]}{_LEFT_OUT}{line[-kept:]}"


def as_sentence(text: str) -> str:
    """A line as a sentence, with a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def is_visible(text: str) -> bool:
    """Whether a text has a character that is seen."""
    return any(character.isprintable() and not character.isspace() for character in text)


def _escaped(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")


def some(texts: Sequence[str], most: int) -> str:
    """The first `most` texts, and the number of the others."""
    more = len(texts) - most
    first = ", ".join(map(shown, texts[:most]))
    return f"{first} and {more} more" if more > 0 else first


_LONGEST_WHOLE: Final = 1e15
DASH: Final = "\N{EN DASH}"
"""The text of a cell without a number."""
_PERCENT: Final = 0.01
_TENTH_OF_A_PERCENT: Final = 0.001
# Sums of shares may be slightly below 1.
_ALL: Final = 1 - 1e-9


class Share(float):
    """A share with a text in percent: `0 %` and `100 %` only for exactly nothing and all, `> 100 %` for little more."""

    def __str__(self) -> str:
        if 0 < self < _TENTH_OF_A_PERCENT:
            return "< 0.1 %"
        if 1 - _TENTH_OF_A_PERCENT / 2 <= self < _ALL:
            return "> 99.9 %"
        digits = 3 if abs(self) >= 0.1 else 2  # noqa: PLR2004 - two digits suffice
        return self._beyond(f"{float(f'{100 * self:.{digits}g}') + 0.0:,g} %")

    @property
    def whole(self) -> str:
        """The share in whole percent, or `< 1 %` and `> 99 %`."""
        if 0 < self < _PERCENT:
            return "< 1 %"
        if -_PERCENT / 2 <= self < 0:
            return "> -1 %"
        return "> 99 %" if 1 - _PERCENT / 2 <= self < _ALL else self._beyond(f"{100 * self + 0.0:,.0f} %")

    def _beyond(self, text: str) -> str:
        return "> 100 %" if text == "100 %" and self > 2 - _ALL else text


def share_with_limits(value: float, low: float, high: float) -> str | None:
    """A share of a table's utility with its interval: `81 % (78 to 84 %)`.

    None if the interval covers everything from nothing to all, as for a table of almost no utility. Negative shares
    become 0.
    """
    if low <= 0 and high >= 1:
        return None
    said, least, most = (Share(max(0.0, each)).whole for each in (value, low, high))
    return f"{said} ({least.removesuffix(' %')} to {most})"


def number(value: float | None, digits: int = 3) -> str:
    """The number to some significant digits, a whole one with all its digits: `0.0303`, `12,345`, `1.2e-7`; None: `-`.

    Args:
        digits: The largest number of significant digits; all digits before the point are always shown.
    """
    if value is None:
        return "-"
    text = f"{value:,.{digits}g}"
    mantissa, _, exponent = text.partition("e")
    if abs(value) < _LONGEST_WHOLE and (float(value).is_integer() or (exponent and abs(value) >= 1)):
        return f"{value:,.0f}"
    return f"{mantissa}e{int(exponent)}" if exponent else text


def percent(share: float) -> str:
    """The share in percent: `0 %` and `100 %` only for exactly nothing and all."""
    return str(Share(share)).replace(" ", "\N{NO-BREAK SPACE}")
