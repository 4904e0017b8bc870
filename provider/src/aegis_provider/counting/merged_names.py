"""Names of merged masked values, composed of the original names."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from aegis_provider.table.values import MISSING
from aegis_sdk.printable import with_blanks

_LISTED: Final = 3
_LENGTH: Final = 60
_SHOWN: Final = 40


@dataclass(frozen=True)
class MergedValues:
    """Values, masked or of the label, merged into one, `text`."""

    values: tuple[str, ...]
    text: str


def merged_texts(
    groups: Iterable[Sequence[str]], known: Iterable[str], *, ordered: bool, rare: Collection[str] = ()
) -> list[str]:
    """Return a new, unique text for each group of two or more masked values, which are in order.

    If `ordered`, a group has only neighbours and is named by its first and last value, unless one of these is rare.
    Names omit rare values, which count among the `others`. A missing value is named `missing`.
    """
    taken, texts = set(known), []
    for group in groups:
        text = _unlike(taken, _text(group, rare, ordered=ordered))
        taken.add(text)
        texts.append(text)
    return texts


def _text(group: Sequence[str], rare: Collection[str], *, ordered: bool) -> str:
    present = [text for text in group if text != MISSING]
    missing = ["missing"] * (len(present) < len(group))
    common = [text for text in present if text.casefold() not in rare]
    if ordered and len(present) > 1 and {present[0], present[-1]} <= set(common):
        return " or ".join([f"{_short(present[0])} to {_short(present[-1])}", *missing])
    if len(common) < len(present):
        return " or ".join([*map(_short, common[:_LISTED]), "others" if common else "rare values", *missing])
    listed = " or ".join([*map(with_blanks, present), *missing])
    if len(group) <= _LISTED and len(listed) <= _LENGTH:
        return listed
    others = len(present) - 1
    return " or ".join([_short(present[0]), *[f"{others} other{'s' * (others > 1)}"] * (others > 0), *missing])


def _short(text: str) -> str:
    return with_blanks(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def _unlike(taken: set[str], text: str) -> str:
    """Return the text, followed by a number if it is taken."""
    if text not in taken:
        return text
    return next(name for number in count(2) if (name := f"{text} ({number})") not in taken)
