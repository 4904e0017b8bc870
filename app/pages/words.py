"""The format of numbers, times and terms on pages."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from markupsafe import Markup

from aegis_sdk.reading import alone_at_most, number, percent, share_alone, worth_in_words
from aegis_sdk.wire import PRIVACY_CRITERIA

_UNITS: Final = ("bytes", "kB", "MB", "GB", "TB")
_TEN: Final = 10
_THOUSAND: Final = 1000

#: Objects whose members have fields of their own in forms.
_GROUPS: Final = frozenset({"limit", "require", "weights"})


def count(things: int) -> str:
    """A number of things, such as `12,345`."""
    return f"{things:,}"


def size(length: int) -> str:
    """A size in bytes, such as `1.5 MB`."""
    amount, place = float(length), 0
    while amount >= _THOUSAND and place < len(_UNITS) - 1:
        amount, place = amount / _THOUSAND, place + 1
    if place == 0:
        return f"{length} bytes"
    return f"{amount:.0f} {_UNITS[place]}" if amount >= _TEN else f"{number(amount)} {_UNITS[place]}"


def moment(at: datetime) -> Markup:
    """A time in UTC to the minute, also machine-readable."""
    at = at.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(f"{at:%Y-%m-%dT%H:%M:%SZ}", f"{at:%Y-%m-%d %H:%M} UTC")


def duration(seconds: float) -> str:
    """A duration in its largest whole unit, such as `4 s`, `3 min`, `2 h` or `5 days`."""
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length or (unit != "days" and seconds >= length):
            return f"{count(int(seconds // length))} {unit}"
    return f"{int(seconds)} s"


def term(word: str, shown: str | None = None) -> Markup:
    """A link to a word of the glossary."""
    return Markup('<a class="term" href="/glossary#{}">{}</a>').format(anchor(word), shown or word)


def anchor(word: str) -> str:
    """The id of a word on the glossary page."""
    return re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")


def bound(criterion: str) -> str:
    """Whether the value of a privacy criterion is a minimum or a maximum."""
    return "at least" if PRIVACY_CRITERIA.get(criterion) == "higher" else "at most"


def field_name(pointer: str) -> str:
    """The field at a place of a document: `k` at `/require/k`, `attributes` at `/attributes/0`."""
    names = [name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/")[1:]]
    return names[1] if len(names) > 1 and names[0] in _GROUPS else names[0] if names else ""


def criterion(name: str) -> str:
    """The name of a criterion or a fact as a heading, such as `k`, `Entropy l` or `Suppressed`."""
    return name if len(name) == 1 else name[:1].upper() + name[1:].replace("_", " ")


def plural(things: int, one: str, many: str | None = None) -> str:
    """A number with its noun, such as `1 entry` or `2 entries`."""
    return f"{count(things)} {one if things == 1 else many or one + 's'}"


FILTERS: Mapping[str, Callable[..., Any]] = {
    "anchor": anchor,
    "bound": bound,
    "count": count,
    "criterion": criterion,
    "duration": duration,
    "field_name": field_name,
    "moment": moment,
    # As typed, such as `10` or `0.25`.
    "number": partial(number, digits=6),
    "plural": plural,
    "share": percent,
    "alone": share_alone,
    "alone_at_most": alone_at_most,
    "significant": number,
    "size": size,
    "term": term,
    "worth": worth_in_words,
}
