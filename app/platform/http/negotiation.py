"""Content negotiation (RFC 9110, section 12): media types and content codings."""

import re
from collections.abc import Mapping, Sequence

#: Longer headers than browsers and tools send are ignored.
LONGEST_HEADER = 2_000

_QUALITY = re.compile(r"\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*", re.IGNORECASE)


def qualities(header: str | None) -> Mapping[str, float]:
    """The quality values in a header by name, from 0 (not acceptable) to 1, without malformed ones."""
    named = {}
    for element in header.split(",") if header and len(header) <= LONGEST_HEADER else ():
        name, *parameters = element.split(";")
        weights = [parameter for parameter in parameters if parameter.strip()[:1].lower() == "q"]
        weight = _QUALITY.fullmatch(weights[0]) if weights else None
        if name.strip() and (weight or not weights):
            named[name.strip().lower()] = float(weight[1]) if weight else 1.0
    return named


def quality(named: Mapping[str, float], offer: str) -> float | None:
    """The quality value of an offer by its most specific name; None if no name matches."""
    names = (offer, f"{offer.partition('/')[0]}/*", "*/*", "*")
    return next((named[name] for name in names if name in named), None)


def preferred(header: str | None, offers: Sequence[str]) -> str | None:
    """The client's preferred offer, the first of equal ones; None if none is acceptable."""
    named = qualities(header)
    liked = {offer: quality(named, offer) or 0.0 for offer in offers}
    best = max(offers, key=liked.__getitem__)
    return best if liked[best] > 0 else None
