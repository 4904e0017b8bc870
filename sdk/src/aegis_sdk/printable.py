"""Texts of an entry, made safe for a terminal: no cursor movements, no colours, no line breaks."""

from collections.abc import Sequence

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


def _escaped(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")


def some(texts: Sequence[str], most: int) -> str:
    """The first `most` texts, and the number of the others."""
    more = len(texts) - most
    first = ", ".join(map(shown, texts[:most]))
    return f"{first} and {more} more" if more > 0 else first
