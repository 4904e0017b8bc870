"""What masked values are called once they are merged."""

from collections.abc import Iterable, Sequence
from itertools import count

from aegis_provider.table.values import MISSING

_LISTED = 3
_LENGTH = 60
_SHOWN = 40


def merged_texts(groups: Iterable[Sequence[str]], known: Iterable[str], *, ordered: bool) -> list[str]:
    """A text for each group of two or more masked values, which are in order: none twice, and none of those known.

    `ordered`: a group has neighbours only, and is called by the first and the last of them. A missing value is called
    `missing`.
    """
    taken, texts = set(known), []
    for group in groups:
        text = _unlike(taken, _text(group, ordered=ordered))
        taken.add(text)
        texts.append(text)
    return texts


def _text(group: Sequence[str], *, ordered: bool) -> str:
    present = [text for text in group if text != MISSING]
    missing = ["missing"] * (len(present) < len(group))
    if ordered and len(present) > 1:
        return " or ".join([f"{_short(present[0])} to {_short(present[-1])}", *missing])
    listed = " or ".join([*present, *missing])
    if len(group) <= _LISTED and len(listed) <= _LENGTH:
        return listed
    others = len(present) - 1
    return " or ".join([_short(present[0]), *[f"{others} other{'s' * (others > 1)}"] * (others > 0), *missing])


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _unlike(taken: set[str], text: str) -> str:
    """The text, with a number after it if it is taken."""
    if text not in taken:
        return text
    return next(found for number in count(2) if (found := f"{text} ({number})") not in taken)
