"""Texts of an entry, made safe for a terminal: no cursor movements, no colours, no line breaks."""

from collections.abc import Sequence
from typing import Final

_LONGEST = 28
_LONGEST_LINE = 500
_LEFT_OUT = " ... "

_PERCENT: Final = 0.01
_TENTH_OF_A_PERCENT: Final = 0.001
# Sums of shares may lack a bit of one.
_ALL: Final = 1 - 1e-9


class Share(float):
    """A share of a whole, whose text is in percent: `0 %` and `100 %` only of exactly nothing and all."""

    def __str__(self) -> str:
        if 0 < self < _TENTH_OF_A_PERCENT:
            return "< 0.1 %"
        if 1 - _TENTH_OF_A_PERCENT / 2 <= self < _ALL:
            return "> 99.9 %"
        digits = 3 if abs(self) >= 0.1 else 2  # noqa: PLR2004 - two digits suffice
        return f"{float(f'{100 * self:.{digits}g}'):,g} %"

    @property
    def whole(self) -> str:
        """The share in whole percent; of one that is nearly nothing or all, only that."""
        if 0 < self < _PERCENT:
            return "< 1 %"
        return "> 99 %" if 1 - _PERCENT / 2 <= self < _ALL else f"{100 * self:,.0f} %"


def share_with_limits(value: float, low: float, high: float) -> str | None:
    """A share of what a table tells, with its interval: `81 % (78 to 84 %)`.

    None if it can be anything, from nothing to all: the table tells nearly nothing then. None is below zero: what seems
    to tell less than nothing tells nothing.
    """
    if low <= 0 and high >= 1:
        return None
    least, most = (100 * max(0.0, limit) for limit in (low, high))
    return f"{Share(max(0.0, value)).whole} ({least:,.0f} to {most:,.0f} %)"


def shown(text: str, longest: int = _LONGEST) -> str:
    """The text with escapes for unprintable characters, cut to `longest` characters; `""` for the empty text.

    A text with a blank at an end is in quotes.
    """
    printable = with_blanks(text if text.isprintable() else "".join(map(_escaped, text)))
    if len(printable) > longest:
        printable = f"{printable[: longest - 1]}…"
    return printable or '""'


def with_blanks(text: str) -> str:
    """The text, in quotes if it has a blank at an end, which nobody would see: `"Vienna "` is not Vienna."""
    return text if text == text.strip() else f'"{text}"'


def one_line(text: str) -> str:
    """A message on one line, with escapes for unprintable characters; a long one keeps its beginning and its end."""
    line = "".join(map(_escaped, " ".join(text.split())))
    if len(line) <= _LONGEST_LINE:
        return line
    kept = (_LONGEST_LINE - len(_LEFT_OUT)) // 2
    return f"{line[:kept]}{_LEFT_OUT}{line[-kept:]}"


def as_sentence(text: str) -> str:
    """A line as a sentence: with a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def _escaped(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")


def some(texts: Sequence[str], most: int) -> str:
    """The first `most` texts, and the number of the others."""
    more = len(texts) - most
    first = ", ".join(map(shown, texts[:most]))
    return f"{first} and {more} more" if more > 0 else first
