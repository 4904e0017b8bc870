"""What a client prefers of what can be sent (RFC 9110, section 12): media types and content codings."""

import re
from collections.abc import Mapping, Sequence

#: Headers with more characters than browsers and tools send express no preference.
LONGEST_HEADER = 2_000

_QUALITY = re.compile(r"\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*", re.IGNORECASE)


def qualities(header: str | None) -> Mapping[str, float]:
    """How much a client likes each thing that it names, from 0 (not at all) to 1. What cannot be read is left out."""
    named = {}
    for element in header.split(",") if header and len(header) <= LONGEST_HEADER else ():
        name, *parameters = element.split(";")
        weights = [parameter for parameter in parameters if parameter.strip()[:1].lower() == "q"]
        weight = _QUALITY.fullmatch(weights[0]) if weights else None
        if name.strip() and (weight or not weights):
            named[name.strip().lower()] = float(weight[1]) if weight else 1.0
    return named


def quality(named: Mapping[str, float], offer: str) -> float | None:
    """How much a client likes an offer, by the most specific name for it; None if no name is about it."""
    names = (offer, f"{offer.partition('/')[0]}/*", "*/*", "*")
    return next((named[name] for name in names if name in named), None)


def preferred(header: str | None, offers: Sequence[str]) -> str | None:
    """The offer that a client likes best, of equal ones the first; None if it likes none."""
    named = qualities(header)
    liked = {offer: quality(named, offer) or 0.0 for offer in offers}
    best = max(offers, key=liked.__getitem__)
    return best if liked[best] > 0 else None
