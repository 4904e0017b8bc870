"""Texts that others wrote, made fit for a chart."""

import re
from typing import Final

# Characters that XML forbids, that break a line, or that change the direction of what follows them.
_UNFIT: Final = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]", re.UNICODE
)
_JOINER: Final = "\N{ZERO WIDTH JOINER}"
_ISOLATE, _END = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"


def fit(text: str) -> str:
    """The text without characters that an SVG cannot hold or that would disturb the text around it."""
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)


def cut(text: str, longest: int) -> str:
    """The text, with an ellipsis in place of what is beyond `longest` characters."""
    clean = fit(text)
    return clean if len(clean) <= longest else f"{clean[: longest - 1].rstrip(_JOINER)}…"


def isolated(text: str) -> str:
    """The text for a sentence of plain text: one that is written from right to left does not turn its surroundings."""
    clean = fit(text)
    return clean if clean.isascii() else f"{_ISOLATE}{clean}{_END}"
