"""Markup that is safe by construction: every text in it is escaped and cleaned."""

import re
from html import escape
from typing import Final, Self

# Characters that XML forbids, that break a line, or that change the text direction.
_UNFIT: Final = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]", re.UNICODE
)
_JOINER: Final = "\N{ZERO WIDTH JOINER}"
_ISOLATE, _END = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"
_VOID: Final = frozenset({"meta"})


class Markup(str):
    """Finished markup, which templates do not escape."""

    __slots__ = ()

    def __html__(self) -> Self:
        """The markup, by the protocol of template engines."""
        return self


NOTHING: Final = Markup()


def tag(name: str, /, *inner: str | None, **attributes: str | float | None) -> Markup:
    """An element with its content: markup unchanged, any other string as text.

    Attributes of value `None` are omitted; `text_anchor` and `class_` stand for `text-anchor` and `class`.
    """
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(fit(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    content = joined(*inner)
    return Markup(f"<{name}{said}>" if name in _VOID else f"<{name}{said}>{content}</{name}>")


def joined(*parts: str | None) -> Markup:
    """Concatenate markup and texts."""
    known = (part for part in parts if part is not None)
    return Markup("".join(part if isinstance(part, Markup) else escape(fit(part)) for part in known))


def fit(text: str) -> str:
    """The text without characters that SVG forbids or that would disturb the surrounding text."""
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)


def cut(text: str, longest: int) -> str:
    """The text, cut to `longest` characters with an ellipsis."""
    clean = fit(text)
    return clean if len(clean) <= longest else f"{clean[: longest - 1].rstrip(_JOINER)}…"


def isolated(text: str) -> str:
    """The text isolated by direction: text from right to left does not affect its surroundings."""
    clean = fit(text)
    return clean if clean.isascii() else f"{_ISOLATE}{clean}{_END}"


def place(share: float) -> str:
    """A position on an axis as an SVG length, from `0%` to `100%`."""
    return f"{round(100 * share, 2):g}%"


def pixels(length: float) -> str:
    """A length in pixels, to a tenth."""
    return f"{round(length, 1):.10g}"
