"""Preferences of callers: media types, content codings (RFC 9110, section 12) and waiting (`Prefer`, RFC 7240)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


_PROFILE = re.compile(r";\s*profile\s*=\s*\"?([^\",;]*)", re.IGNORECASE)


def profiles(header: str | None) -> frozenset[str]:
    """The profiles (RFC 6906) of the media types in a header."""
    return frozenset(_PROFILE.findall(header) if header and len(header) <= LONGEST_HEADER else ())


#: Seconds to wait for an answer: by default, and at most.
DEFAULT_WAIT = 10.0
LONGEST_WAIT = 60.0

_WAIT = re.compile(r"\s*wait\s*=\s*\"?(\d{1,9})\"?\s*", re.IGNORECASE)

_ASYNCHRONOUS = "respond-async"


@dataclass(frozen=True, slots=True)
class Waiting:
    """How long to wait for an answer.

    Attributes:
        preference: the caller's preference as it is honoured; None without one.
    """

    seconds: float
    preference: str | None = None

    def headers(self, *, is_answered: bool) -> dict[str, str]:
        """`Preference-Applied` if a preference was honoured; `respond-async` is not by an immediate answer."""
        if self.preference is None or (is_answered and self.preference == _ASYNCHRONOUS):
            return {}
        return {"Preference-Applied": self.preference}


def waiting(prefer: str | None) -> Waiting:
    """How long to wait: 10 seconds by default, at most 60, and 0 with `respond-async`.

    Malformed preferences are ignored.
    """
    preferences = re.split("[,;]", prefer or "")
    if any(preference.strip().lower() == _ASYNCHRONOUS for preference in preferences):
        return Waiting(0.0, _ASYNCHRONOUS)
    waits = [float(match[1]) for preference in preferences if (match := _WAIT.fullmatch(preference))]
    if not waits:
        return Waiting(DEFAULT_WAIT)
    seconds = min(waits[0], LONGEST_WAIT)
    return Waiting(seconds, f"wait={seconds:g}")
